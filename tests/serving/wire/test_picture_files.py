import io

import pytest
from PIL import Image

from gcap_tf import errors
from serving.wire import picture_files


def encoded(kind, size=(40, 30), **options):
  data = io.BytesIO()
  Image.new("RGB", size, "teal").save(data, kind, **options)
  return data.getvalue()


def test_files_and_folders_are_found_in_order(tmp_path):
  for name in ("b.jpg", "a.PNG", "note.txt"):
    (tmp_path / name).write_bytes(b"")
  one = tmp_path / "b.jpg"
  assert picture_files.find([one, tmp_path]) == [one, tmp_path / "a.PNG", one]
  with pytest.raises(errors.UserError, match=r"nothing.jpg does not exist"):
    picture_files.find([tmp_path / "nothing.jpg"])
  (tmp_path / "empty").mkdir()
  with pytest.raises(errors.UserError, match=r"has no pictures"):
    picture_files.find([tmp_path / "empty"])


def test_jpeg_and_png_are_sent_as_they_are():
  for kind in ("JPEG", "PNG"):
    data = encoded(kind)
    assert picture_files.encode(data) == data


def test_other_formats_and_large_files_become_jpeg(monkeypatch):
  sent = picture_files.encode(encoded("WEBP"))
  assert Image.open(io.BytesIO(sent)).format == "JPEG"
  monkeypatch.setattr(picture_files, "MOST_BYTES", 10)
  sent = Image.open(io.BytesIO(picture_files.encode(encoded("PNG", (5000, 100)))))
  assert (sent.format, sent.size) == ("JPEG", (2048, 41))


def test_damaged_file_is_named_in_one_line(tmp_path):
  (tmp_path / "text.jpg").write_text("no picture")
  with pytest.raises(errors.UserError, match=r"text.jpg cannot be read: it is not a picture"):
    picture_files.read(tmp_path / "text.jpg")
  (tmp_path / "cut.png").write_bytes(encoded("PNG")[:60])
  with pytest.raises(errors.UserError, match=r"cut.png cannot be read"):
    picture_files.read(tmp_path / "cut.png")


def test_picture_is_turned_as_its_orientation_says_and_laid_over_white():
  exif = Image.Exif()
  exif[0x0112] = 6
  assert picture_files.upright(encoded("JPEG", exif=exif)).size == (30, 40)
  data = io.BytesIO()
  Image.new("RGBA", (2, 2), (0, 0, 0, 0)).save(data, "PNG")
  assert picture_files.upright(data.getvalue()).getpixel((0, 0)) == (255, 255, 255)
