import pytest
import tensorflow as tf

from gcap_tf.captioners import cyclical
from tests import captioner_harness

BATCH = captioner_harness.make_batch()


def make(**options):
  captioner_harness.fix_start()
  sizes = {
    **{"vocabulary_size": 11, "embedding_size": 8, "hidden_size": 10, "attention_size": 6},
    **{"feature_size": 7, "region_size": 9, "location_size": 8},
  }
  return cyclical.CyclicalCaptioner(cyclical.CyclicalConfig(**(sizes | options)))


def test_keeps_the_contract_and_needs_the_localizer_only_in_training():
  captioner_harness.check_captioner(make, BATCH, unused=("localizer",))


@pytest.mark.parametrize("branches", [1, 4])
def test_reconstructs_alone_and_with_distributed_branches(branches):
  model = make(branches=branches)
  memory = model.encode(BATCH)
  words = tf.argmax(model.teacher_force(memory, BATCH["tokens"])["logits"], -1, tf.int32)
  rebuilt = model.reconstruct(memory, BATCH["tokens"], words)
  assert rebuilt["logits"].shape == (6, 6, 11)
  assert rebuilt["attention"].shape == (6, 6, 1, 5)


def test_a_grid_takes_part_in_the_reconstruction():
  model = make(grid_size=3)
  mask = tf.ones([3, 4], tf.bool)
  grids = [{"grid_features": tf.fill([3, 4, 3], value), "grid_mask": mask} for value in (1.0, 3.0)]
  logits = [
    model.reconstruct(model.encode(BATCH | grid), BATCH["tokens"], BATCH["tokens"])["logits"]
    for grid in grids
  ]
  assert float(tf.reduce_max(tf.abs(logits[0] - logits[1]))) > 1e-4
