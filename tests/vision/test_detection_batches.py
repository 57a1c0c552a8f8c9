import types

import numpy as np
import tensorflow as tf

from gcap_tf.vision import annotations, detection_batches


class _Cache(types.SimpleNamespace):
  """Maps that say which picture and view they are of."""

  def read(self, rows, views):
    return {"map_8": np.stack([rows, views], 1).astype(np.float16)}

  def specs(self):
    return {"map_8": tf.TensorSpec([None, 2], tf.float16)}


def _batches(count=7, batch_size=3, seed=1):
  pictures = [
    annotations.Picture(
      str(number),
      np.tile([[0.1, 0.2, 0.4, 0.9]], (2, 1)).astype(np.float32),
      np.eye(2, dtype=np.float32),
      np.zeros((2, 3), np.float32),
    )
    for number in range(count)
  ]
  cache = _Cache(views=2, rows={str(number): number for number in range(count)})
  return detection_batches.DetectionBatches(cache, pictures, batch_size, seed)


def test_an_epoch_shows_different_pictures():
  batches = _batches()
  assert batches.steps_per_epoch == 2
  seen = np.concatenate([batches.batch(step)["image_id"] for step in (0, 1)])
  assert len(set(seen)) == 6


def test_a_step_is_the_same_wherever_one_starts():
  batches = _batches()
  late = next(iter(batches(5)))
  expected = batches.batch(5)
  for name, value in late.items():
    np.testing.assert_array_equal(value, expected[name])
  assert not np.array_equal(batches.batch(4)["map_8"], expected["map_8"])


def test_mirrored_views_have_mirrored_boxes():
  batches = _batches()
  for step in range(6):
    batch = batches.batch(step)
    for view, boxes in zip(batch["map_8"][:, 1], batch["boxes"], strict=True):
      expected = [0.6, 0.2, 0.9, 0.9] if view else [0.1, 0.2, 0.4, 0.9]
      np.testing.assert_allclose(boxes[:2], [expected] * 2, rtol=1e-6)
    np.testing.assert_array_equal(batch["box_mask"].sum(1), [2, 2, 2])


def test_workers_share_a_batch():
  batches = _batches(batch_size=4)
  parts = [next(iter(batches(3, (index, 2)))) for index in (0, 1)]
  whole = batches.batch(3)
  for name, value in whole.items():
    np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), value)


def test_of_many_boxes_some_are_kept():
  boxes = np.random.default_rng(0).uniform(size=(50, 4)).astype(np.float32)
  picture = annotations.Picture("a", boxes, np.eye(50, dtype=np.float32), np.zeros((50, 3)))
  found = detection_batches.targets([picture], [0], np.random.default_rng(1))
  assert found["box_mask"].all()
  rows = found["words"][0].argmax(1)
  assert len(set(rows)) == detection_batches.MAX_BOXES
  np.testing.assert_array_equal(found["boxes"][0], boxes[rows])
