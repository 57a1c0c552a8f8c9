import numpy as np
import pytest
import tensorflow as tf

from export import captioner_module, photograph_module, saved_model, warmup_requests
from gcap_tf import api
from gcap_tf.data.stores import extracted_store, feature_folders
from gcap_tf.evaluation import region_captioning
from gcap_tf.runs import detector_runs, photograph_runs, run_folders
from gcap_tf.vision.extraction import region_extractor
from tests.export import picture_captioner
from tests.vision import picture_files


@pytest.fixture(scope="module")
def run(tmp_path_factory):
  return picture_captioner.write(tmp_path_factory.mktemp("photographs"))


@pytest.fixture(scope="module")
def module(run):
  config = saved_model.ExportConfig(max_length=8)
  return saved_model.make_photograph_module(photograph_runs.load(run), config)


@pytest.fixture(scope="module")
def samples():
  found = picture_files.samples()
  wide = picture_files.encoded(picture_files.photograph(90, 30), "JPEG")
  return [found["jpeg"], found["turned"], wide, b"hello", found["grey_png"]]


@pytest.fixture(scope="module")
def answers(module, samples):
  return module.caption_image(tf.constant(samples))


def test_a_damaged_picture_has_an_error_and_the_others_captions(answers, samples):
  found = {name: value.numpy() for name, value in answers.items()}
  assert set(found) == {*captioner_module.OUTPUTS, *photograph_module.REGION_OUTPUTS}
  assert [bool(text) for text in found["error"]] == [False, False, False, True, False]
  assert found["caption"][3] == b"" and found["length"][3] == 0 and found["log_prob"][3] == 0
  assert not found["grounded"][3].any() and (found["box_index"][3] == -1).all()
  assert found["num_regions"].tolist()[3] == 0 and found["image_size"][3].tolist() == [0, 0]
  assert found["image_size"].tolist()[:2] == [[48, 32], [32, 48]], "EXIF turns the second"
  assert len(set(found["caption"])) > 2, "the pictures should not all get the same words"
  row = 2
  for word in range(found["length"][row]):
    index = found["box_index"][row, word]
    np.testing.assert_array_equal(found["box"][row, word], found["region_boxes"][row, index])


def test_an_answer_does_not_depend_on_the_other_pictures(module, answers, samples):
  alone = module.caption_image(tf.constant(samples[2:3]))
  for name, value in answers.items():
    if value.dtype == tf.float32:
      np.testing.assert_allclose(alone[name][0], value[2], atol=2e-5)
    else:
      assert np.array_equal(alone[name][0].numpy(), value[2].numpy()), name


def test_no_pictures_give_no_answers(module):
  found = module.caption_image(tf.zeros([0], tf.string))
  assert found["words"].shape == (0, 8) and found["region_boxes"].shape == (0, 6, 4)


def test_a_photograph_is_captioned_as_its_stored_regions_are(run, module, samples, tmp_path):
  """The way of `extract_regions` and `caption --regions`, against the graph."""
  paths = {}
  for name, data in zip(("a", "b", "c"), samples, strict=False):
    paths[name] = tmp_path / f"{name}.jpg"
    paths[name].write_bytes(data)
  config = region_extractor.ExtractionConfig(detector=str(run.parent / "eyes"), regions=6)
  extractor = region_extractor.RegionExtractor(config, detector_runs.load)
  extracted_store.write_info(tmp_path / "store", extractor.info())
  for name, path in paths.items():
    extracted_store.write_picture(tmp_path / "store", name, *extractor.extract(name, path))
  loaded, store = run_folders.load(run), feature_folders.FolderStore(tmp_path / "store")
  rows = list(region_captioning.caption_store(loaded, store, module.decoding("greedy")))
  found = module.caption_image(tf.constant(samples[:3]))
  for row, expected in enumerate(rows):
    assert found["caption"][row].numpy().decode() == expected["caption"]
    index = found["box_index"][row].numpy()[: len(expected["words"])]
    assert index.tolist() == expected["box_index"]
    np.testing.assert_allclose(found["log_prob"][row], expected["log_prob"], atol=0.05)


def test_the_saved_model_answers_what_the_module_does(run, module, samples, tmp_path, monkeypatch):
  """`export` itself compares all signatures; here a batch with a damaged picture."""
  monkeypatch.setattr(warmup_requests, "BATCHES", (1,))
  loaded = run_folders.load(run)
  folder = saved_model.export(loaded, tmp_path, saved_model.ExportConfig(max_length=8))
  signatures = tf.saved_model.load(str(folder)).signatures
  assert set(signatures) == {
    *("serving_default", "greedy", "beam"),
    *("caption_image", "caption_image_beam"),
  }
  assert set(signatures["serving_default"].structured_input_signature[1]) == {"image_bytes"}
  for name in ("caption_image", "caption_image_beam"):
    found = signatures[name](image_bytes=tf.constant(samples))
    assert found["attention"].shape == (5, 8, 6)
    expected = module.python_answer(name, {"image_bytes": tf.constant(samples)})
    for key in ("caption", "box_index", "grounded", "error", "region_labels", "num_regions"):
      assert (found[key].numpy() == expected[key].numpy()).all(), (name, key)
    np.testing.assert_allclose(found["attention"], expected["attention"], atol=1e-4)
  answers = api.load(tmp_path).caption(samples)
  texts = [answer.caption.encode() for answer in answers]
  assert texts == module.caption_image(tf.constant(samples))["caption"].numpy().tolist()
