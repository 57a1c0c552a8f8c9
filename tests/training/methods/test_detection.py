# bazel: size = "medium"

import dataclasses

import keras
import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.runs import detector_runs
from gcap_tf.training import schedules, update_step
from gcap_tf.training.methods import detection
from gcap_tf.training.optimizers import Adam, OptimizerConfig
from gcap_tf.vision import detector
from gcap_tf.vision.backbones import lite_weights
from tests.vision import tiny_photographs

_CHANNELS = {8: 40, 16: 112, 32: 320}
_CONFIG = detection.DetectorTrainingConfig(
  model=tiny_photographs.CONFIG, backbone_weights="none", batch_size=2, epochs=2, evaluate_every=3
)


def _detector():
  keras.utils.set_random_seed(1)
  return detector.Detector(tiny_photographs.CONFIG)


def _batch(pictures=4, seed=0):
  rng = np.random.default_rng(seed)
  boxes = np.zeros((pictures, 32, 4), np.float32)
  boxes[:, 0], boxes[:, 1] = [0.1, 0.1, 0.3, 0.3], [0.0, 0.0, 1.0, 1.0]
  words = np.zeros((pictures, 32, 2), np.float32)
  words[:, 0, 0], words[:, 1, 1] = 2, 1
  colours = np.zeros((pictures, 32, 11), np.float32)
  colours[:, 0, 3] = 1
  maps = {
    f"map_{s}": rng.normal(size=(pictures, 64 // s, 64 // s, c)).astype(np.float16)
    for s, c in _CHANNELS.items()
  }
  values = {
    **maps,
    "picture": rng.integers(0, 256, (pictures, 16, 16, 3)).astype(np.uint8),
    "content": np.tile([[1.0, 0.75]], (pictures, 1)).astype(np.float32),
    "boxes": boxes,
    "box_mask": np.arange(32)[None] < np.full((pictures, 1), 2),
    "words": words,
    "colours": colours,
  }
  return {name: tf.constant(value) for name, value in values.items()}


def test_losses_reach_every_weight():
  trainer = detection.DetectionTrainer(_detector(), detection.DetectionLosses())
  with tf.GradientTape() as tape:
    losses = trainer.losses(_batch(), tf.constant([1, 2]))
    total = tf.add_n(list(losses.values()))
  assert set(losses) == {"quality", "overlap", "label", "colour"}
  weights = trainer.model.trainable_variables
  gradients = tape.gradient(total, [weight.value for weight in weights])
  missing = [w.path for w, g in zip(weights, gradients, strict=True) if g is None]
  assert not missing


def test_names_of_cells_reach_the_proposer():
  config = dataclasses.replace(tiny_photographs.CONFIG, cell_units=8)
  keras.utils.set_random_seed(1)
  model = detector.Detector(config)
  trainer = detection.DetectionTrainer(model, detection.DetectionLosses())
  with tf.GradientTape() as tape:
    losses = trainer.losses(_batch(), tf.constant([1, 2]))
  assert set(losses) == {"quality", "overlap", "label", "colour", "cells"}
  assert set(trainer.counted(_batch())) == set(losses)
  towers = [w.value for w in model.head.proposer.trainable_variables if "tower" in w.path]
  assert towers and all(g is not None for g in tape.gradient(losses["cells"], towers))


def test_a_few_pictures_are_learned():
  trainer = detection.DetectionTrainer(_detector(), detection.DetectionLosses())
  variables = [weight.value for weight in trainer.model.trainable_variables]
  update = update_step.UpdateStep(trainer, Adam(OptimizerConfig(), variables))
  batch = _batch()
  losses = [
    float(update(batch, tf.constant([1, step]), tf.constant(0.01), tf.constant(0.0))["loss"])
    for step in range(25)
  ]
  assert losses[-1] < 0.6 * losses[0]


def test_a_kept_proposer_gets_no_loss_and_no_gradient():
  model = _detector()
  model.head.proposer.trainable = False
  trainer = detection.DetectionTrainer(model, detection.DetectionLosses())
  before = model.head.proposer.get_weights()
  assert set(trainer.losses(_batch(), tf.constant([1, 2]))) == {"label", "colour"}
  assert set(trainer.counted(_batch())) == {"label", "colour"}
  learned = {id(weight) for weight in trainer.model.trainable_variables}
  assert learned == {id(weight) for weight in model.head.namer.trainable_variables}
  for one, other in zip(before, model.head.proposer.get_weights(), strict=True):
    np.testing.assert_array_equal(one, other)


def test_a_step_is_a_function_of_its_seed():
  batch = _batch()
  one, same, other = (
    detection.DetectionTrainer(_detector(), detection.DetectionLosses()).losses(
      batch, tf.constant(seed)
    )["label"]
    for seed in ([1, 2], [1, 2], [1, 3])
  )
  assert one == same and one != other


def test_no_gradient_flows_from_names_into_proposals():
  trainer = detection.DetectionTrainer(_detector(), detection.DetectionLosses())
  with tf.GradientTape() as tape:
    losses = trainer.losses(_batch(), tf.constant([1, 2]))
    named = losses["label"] + losses["colour"]
  weights = [weight.value for weight in trainer.model.head.proposer.trainable_variables]
  assert all(gradient is None for gradient in tape.gradient(named, weights))


def test_tuned_layers_of_the_backbone_learn_slowly_and_the_others_stay():
  tuned = dataclasses.replace(tiny_photographs.CONFIG, tuned_stride=16)
  keras.utils.set_random_seed(1)
  model = detector.Detector(tuned)
  trainer = detection.DetectionTrainer(model, detection.DetectionLosses())
  batch = {name: value for name, value in _batch().items() if not name.startswith("map_")}
  batch["map_8"] = model.frozen(tf.random.stateless_uniform([4, 64, 64, 3], [1, 1]) * 255)[8]
  config = detection._slow_backbone(dataclasses.replace(_CONFIG, tuned_rate=0.01), model)
  variables = [weight.value for weight in trainer.model.trainable_variables]
  update = update_step.UpdateStep(trainer, Adam(config.optimizer, variables))
  before = {w.path: w.numpy() for w in (*model.backbone.weights, *model.head.weights)}
  update(batch, tf.constant([1, 0]), tf.constant(0.01), tf.constant(0.0))
  moved = {
    w.path: np.abs(w.numpy() - before[w.path]).max()
    for w in (*model.backbone.weights, *model.head.trainable_weights)
  }
  first = {path: moved[path] for path in moved if path.startswith(("stem", "block_3_"))}
  middle = {path: moved[path] for path in moved if path.startswith(("block_4_", "block_10_"))}
  last = {path: moved[path] for path in moved if path.startswith(("block_11_", "block_15_"))}
  assert first and last and not any(first.values()) and not any(last.values())
  # Adam's first step is as long as the rate, whatever the gradient.
  assert all(0 < step < 1.1e-4 for path, step in middle.items() if path.endswith("kernel"))
  assert max(moved[w.path] for w in model.head.trainable_weights) > 9e-3


def test_what_means_are_over_is_known_from_the_batch():
  trainer = detection.DetectionTrainer(_detector(), detection.DetectionLosses())
  counted = trainer.counted(_batch(3))
  assert int(tf.reduce_sum(tf.cast(counted["label"], tf.int32))) == 6
  assert int(tf.reduce_sum(tf.cast(counted["colour"], tf.int32))) == 3
  assert bool(tf.reduce_any(counted["quality"]))


def test_shaken_boxes_stay_boxes_on_the_photograph():
  boxes = np.tile([[[0.1, 0.1, 0.9, 0.7]]], (2, 50, 1)).astype(np.float32)
  content = np.array([[1.0, 0.75], [1.0, 0.75]], np.float32)
  shaken = detection.shake(boxes, content, 0.5, tf.constant([1, 2])).numpy()
  assert (shaken[..., 2:] >= shaken[..., :2]).all()
  assert shaken.min() >= 0 and shaken[..., 3].max() <= 0.75
  np.testing.assert_array_equal(detection.shake(boxes, content, 0.0, tf.constant([1, 2])), boxes)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
  return tiny_photographs.sources(tmp_path_factory.mktemp("data"))


def _weights(run):
  return [np.asarray(weight.value) for weight in detector_runs.load(run).detector.learned.weights]


def test_a_run_that_was_stopped_goes_on_exactly(sources, tmp_path):
  # A constant rate does not depend on the number of steps, so a shorter run is its beginning.
  constant = schedules.ScheduleConfig("constant", 1e-3)
  model = dataclasses.replace(tiny_photographs.CONFIG, tuned_stride=16)
  config = dataclasses.replace(_CONFIG, schedule=constant, model=model)
  sources = dataclasses.replace(sources, cache=f"{sources.cache}_tuned")
  detection.train(sources, config, tmp_path / "straight")
  begun = dataclasses.replace(config, max_steps=4, evaluate_every=100)
  detection.train(sources, begun, tmp_path / "parted")
  detection.train(sources, config, tmp_path / "parted")
  straight, parted = _weights(tmp_path / "straight"), _weights(tmp_path / "parted")
  for one, other in zip(straight, parted, strict=True):
    np.testing.assert_array_equal(one, other)


def test_figures_of_the_val_split_and_pictures_come_out(sources, tmp_path):
  figures = detection.train(sources, dataclasses.replace(_CONFIG, max_steps=2), tmp_path / "run")
  assert (figures["pictures"], figures["boxes"]) == (2, 4) and "recall_36" in figures
  run = detector_runs.load(tmp_path / "run")
  assert run.labels == tiny_photographs.WORDS and len(run.colours) == 11
  assert run.config["training"]["batch_size"] == 2
  assert list((tmp_path / "run" / "tensorboard").iterdir())


def test_the_boxes_of_a_finished_run_are_kept_and_get_new_names(sources, tmp_path):
  backbone = tmp_path / "backbone.weights.h5"
  lite_weights.build("lite0", "none").save_weights(backbone)
  sources = dataclasses.replace(sources, cache=str(tmp_path / "cache"))
  config = dataclasses.replace(_CONFIG, max_steps=2, backbone_weights=str(backbone))
  detection.train(sources, config, tmp_path / "run")
  detector_runs.pack(tmp_path / "run", tmp_path / "packed")
  fold = dataclasses.replace(_CONFIG, max_steps=2, proposer=str(tmp_path / "packed"), seed=2)
  own = dataclasses.replace(sources, cache=str(tmp_path / "own_cache"))
  detection.train(own, fold, tmp_path / "fold")
  run, fold = (detector_runs.load(tmp_path / name).detector for name in ("packed", "fold"))
  for one, other in zip(run.backbone.get_weights(), fold.backbone.get_weights(), strict=True):
    np.testing.assert_array_equal(one, other)
  run, fold = run.head, fold.head
  for one, other in zip(run.proposer.get_weights(), fold.proposer.get_weights(), strict=True):
    np.testing.assert_array_equal(one, other)
  kernels = [head.namer.hidden["label"].kernel.numpy() for head in (run, fold)]
  assert np.abs(kernels[0] - kernels[1]).max() > 0.01


def test_a_wrong_size_is_one_line(sources, tmp_path):
  config = dataclasses.replace(_CONFIG, model=dataclasses.replace(_CONFIG.model, size=100))
  with pytest.raises(errors.UserError, match="multiple of 32"):
    detection.train(sources, config, tmp_path / "run")
