# bazel: size = "medium"

import dataclasses

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.runs import detector_runs
from gcap_tf.text import object_words
from gcap_tf.training.methods import detector_training
from gcap_tf.vision import detector, folds
from tests.vision import tiny_photographs

_CONFIG = detector_training.DetectorTrainingConfig(
  model=tiny_photographs.CONFIG, backbone_weights="none", batch_size=2, epochs=2, evaluate_every=3
)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
  folder = tmp_path_factory.mktemp("data")
  source, pictures = tiny_photographs.make(folder)
  classes = folder / "flickr30k_class_name.txt"
  return detector_training.Sources(*map(str, (source, pictures, classes, folder / "cache")))


def _weights(run):
  return [np.asarray(weight.value) for weight in detector_runs.load(run).detector.head.weights]


def test_a_run_that_was_stopped_goes_on_exactly(sources, tmp_path):
  begun = dataclasses.replace(_CONFIG, max_steps=4, evaluate_every=100)
  # Same rates as the whole run: only the constant schedule does not look at the last step.
  steady = dataclasses.replace(
    _CONFIG.schedule, kind="constant", learning_rate=1e-3, warmup_steps=0
  )
  config = dataclasses.replace(_CONFIG, schedule=steady)
  detector_training.train(sources, config, tmp_path / "straight")
  detector_training.train(sources, dataclasses.replace(begun, schedule=steady), tmp_path / "parted")
  detector_training.train(sources, config, tmp_path / "parted")
  for one, other in zip(
    _weights(tmp_path / "straight"), _weights(tmp_path / "parted"), strict=True
  ):
    np.testing.assert_array_equal(one, other)


def test_figures_of_the_val_split_and_pictures_come_out(sources, tmp_path):
  figures = detector_training.train(
    sources, dataclasses.replace(_CONFIG, max_steps=2), tmp_path / "run"
  )
  assert (figures["pictures"], figures["boxes"]) == (2, 4) and "recall_36" in figures
  run = detector_runs.load(tmp_path / "run")
  assert run.labels == tiny_photographs.WORDS and len(run.colours) == 11
  assert run.config["training"]["batch_size"] == 2
  assert list((tmp_path / "run" / "tensorboard").iterdir())


def test_a_fold_is_left_out_and_folds_share_the_cache(sources):
  config = dataclasses.replace(_CONFIG, fold=0, folds=2, batch_size=1)
  classes = object_words.ObjectClasses.load(sources.object_classes)
  model = detector.Detector(config.model)
  batches = detector_training._batches(sources, config, classes, model)
  names = {picture.image_id for picture in batches.pictures}
  every = {str(100 + number) for number in range(6)}
  assert names == {name for name in every if folds.fold(name, 2) != 0} and names < every
  assert set(batches.cache.image_ids) == every


def test_wrong_options_are_one_line(sources, tmp_path):
  for changes, told in (
    ({"fold": 4}, "fold 4 of 4"),
    ({"batch_size": 50}, "fewer than a batch of 50"),
    ({"model": dataclasses.replace(_CONFIG.model, size=100)}, "multiple of 32"),
  ):
    with pytest.raises(errors.UserError, match=told):
      detector_training.train(sources, dataclasses.replace(_CONFIG, **changes), tmp_path / "run")
