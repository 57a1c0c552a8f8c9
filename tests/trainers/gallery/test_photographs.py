import pytest
from PIL import Image

from serving import free_photographs
from tests.serving import tiny_photographs
from trainers.gallery import photographs


@pytest.fixture
def data(tmp_path, monkeypatch):
  folder = tmp_path / "data" / "pictures"
  folder.mkdir(parents=True)
  (tmp_path / "data" / "captions").mkdir()
  for number in range(6):
    Image.new("RGB", (40, 30), (250, 40 * number, 0)).save(folder / f"{number}.jpg")
  monkeypatch.setenv("GCAP_DATA", str(tmp_path / "data"))
  monkeypatch.setattr(free_photographs, "find", lambda: {})
  return folder


def test_pictures_of_the_data_folder_come_from_one_end_to_the_other(data, monkeypatch):
  assert photographs.find(3) == {f"Picture {n}": data / f"{n}.jpg" for n in (0, 2, 4)}
  monkeypatch.delenv("GCAP_DATA")
  assert photographs.find(3) == {}


def test_server_answers_every_photograph(data, tmp_path):
  tiny_photographs.save(tmp_path / "model")
  answered = photographs.ask_server(tmp_path / "model", photographs.find(6), batch=4)
  assert len(answered) == 6
  assert all(
    answer.words[-1] == "hat" and answer.seen.image_size == (40, 30) for answer in answered
  )
