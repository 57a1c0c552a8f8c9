import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

import gcap_tf
from gcap_tf import api, errors
from gcap_tf.decoding import config as decode_config
from tests.export import picture_captioner
from tests.vision import picture_files


@pytest.fixture(scope="module")
def run(tmp_path_factory):
  return picture_captioner.write(tmp_path_factory.mktemp("photographs"))


@pytest.fixture(scope="module")
def captioner(run):
  return gcap_tf.load(run)


def test_paths_bytes_images_and_arrays_get_the_same_answer(captioner, tmp_path):
  image = picture_files.photograph()
  data = picture_files.encoded(image, "PNG")
  (tmp_path / "dog.png").write_bytes(data)
  given = [tmp_path / "dog.png", str(tmp_path / "dog.png"), data, image, np.asarray(image)]
  found = captioner.caption(given)
  assert {answer.caption for answer in found} == {found[0].caption} and found[0].caption
  assert [answer.image_id for answer in found] == ["dog", "dog", "", "", ""]
  alone = captioner.caption(given[0])
  assert (
    alone.caption == found[0].caption and alone.words[0].box_index == found[0].words[0].box_index
  )
  assert found[0].words[0].score is None and len(found[0].regions) == picture_captioner.REGIONS
  found[3].draw(tmp_path / "out.png")
  assert Image.open(tmp_path / "out.png").width >= 480


def test_in_a_list_a_damaged_picture_has_an_error_and_alone_it_is_one(captioner, tmp_path):
  good = picture_files.samples()["webp"]
  (tmp_path / "bad.jpg").write_bytes(b"hello")
  found = captioner.caption([good, tmp_path / "bad.jpg", tmp_path / "gone.jpg", good])
  assert [bool(answer.caption) for answer in found] == [True, False, False, True]
  assert "not a picture" in found[1].error and "cannot be read" in found[2].error
  assert not found[2].answered
  for name, message in (("bad.jpg", r"bad.jpg: not a picture"), ("gone.jpg", "cannot be read")):
    with pytest.raises(errors.UserError, match=message):
      captioner.caption(tmp_path / name)
  assert captioner.caption([]) == []


def test_decoding_can_be_chosen(captioner):
  data = picture_files.samples()["jpeg"]
  short = decode_config.DecodeConfig(max_length=2)
  assert len(captioner.caption(data, short).words) <= 2
  with pytest.raises(errors.UserError, match='decode is "best"; choose from greedy, beam'):
    captioner.caption(data, "best")


def test_another_programs_boxes_can_be_captioned(run, captioner):
  other = gcap_tf.load(run, detector="grid:20")
  good, bad = other.caption([picture_files.samples()["jpeg"], b"hello"])
  assert good.caption and "not a picture" in bad.error and not bad.words
  boxes = {region.box for region in good.regions}
  own = {region.box for region in captioner.caption(picture_files.samples()["jpeg"]).regions}
  assert boxes and boxes != own


def test_a_captioner_has_its_keras_model_and_its_detector(captioner):
  assert captioner.run.model.count_params() > 0
  assert captioner.detector.labels[0] == "man"


def test_what_is_not_there_is_said_in_one_line(run, tmp_path):
  with pytest.raises(errors.UserError, match="is not a run folder"):
    gcap_tf.load(tmp_path)
  (tmp_path / "2").mkdir()
  (tmp_path / "11").mkdir()
  for version in ("2", "11"):
    (tmp_path / version / "saved_model.pb").write_bytes(b"")
  assert api.saved_model_folder(tmp_path) == tmp_path / "11"
  assert api.saved_model_folder(run) is None
  with pytest.raises(errors.UserError, match="leave detector out"):
    gcap_tf.load(tmp_path, detector="shipped")


def test_importing_the_package_is_quick_and_loads_no_tensorflow():
  program = "import sys, gcap_tf; gcap_tf.load; print('tensorflow' in sys.modules)"
  start = time.process_time()
  done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
  assert done.stdout.strip() == "False" and time.process_time() - start < 5
