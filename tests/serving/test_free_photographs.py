import sys

from PIL import Image

from serving import free_photographs


def test_photographs_are_found_in_the_package_without_importing_it(tmp_path, monkeypatch):
  data = tmp_path / "skimage" / "data"
  data.mkdir(parents=True)
  (tmp_path / "skimage" / "__init__.py").write_text("raise ImportError('do not import me')")
  Image.new("RGB", (4, 4)).save(data / "coffee.png")
  monkeypatch.setattr(sys, "path", [str(tmp_path)])
  assert free_photographs.find() == {"A cup of coffee": data / "coffee.png"}


def test_nothing_is_found_without_the_package(tmp_path, monkeypatch):
  monkeypatch.setattr(sys, "path", [str(tmp_path)])
  assert free_photographs.find() == {}


def test_installed_photographs_are_pictures():
  for path in free_photographs.find().values():
    with Image.open(path) as picture:
      assert min(picture.size) > 200
