import pytest

from gcap_tf import errors
from gcap_tf.text import object_words
from gcap_tf.training import detector_data
from gcap_tf.vision import detector, folds
from tests.vision import tiny_photographs

_EVERY = {str(100 + number) for number in range(6)}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
  return tiny_photographs.sources(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def model():
  return detector.Detector(tiny_photographs.CONFIG)


def _batches(sources, model, **changes):
  chosen = {"fold": -1, "folds": 2, "views": 2, "batch_size": 1, "max_pictures": 0, "seed": 1}
  classes = object_words.ObjectClasses.load(sources.object_classes)
  chosen = detector_data.Selection(**chosen | changes)
  return detector_data.training_batches(sources, chosen, classes, model)


def test_a_fold_is_left_out_and_folds_share_the_cache(sources, model):
  assert {picture.image_id for picture in _batches(sources, model).pictures} == _EVERY
  batches = _batches(sources, model, fold=0)
  names = {picture.image_id for picture in batches.pictures}
  assert names == {name for name in _EVERY if folds.fold(name, 2) != 0} and names < _EVERY
  assert set(batches.cache.image_ids) == _EVERY


def test_wrong_selections_are_one_line(sources, model):
  for changes, message in (({"fold": 2}, "fold 2 of 2"), ({"batch_size": 50}, "a batch of 50")):
    with pytest.raises(errors.UserError, match=message):
      _batches(sources, model, **changes)


def test_a_dataset_without_validation_pictures_has_no_validation(model, tmp_path):
  sources = tiny_photographs.sources(tmp_path, val=0)
  classes = object_words.ObjectClasses.load(sources.object_classes)
  assert detector_data.validation(sources, classes, model) is None
