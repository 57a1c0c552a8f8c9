import numpy as np
import tensorflow as tf

from export import warmup_requests
from serving import servables

SPECS = {
  "features": tf.TensorSpec([None, None, 3], tf.float32),
  "boxes": tf.TensorSpec([None, None, 4], tf.float32),
  "num_regions": tf.TensorSpec([None], tf.int32),
  "labels": tf.TensorSpec([None, None], tf.string),
  "captions": tf.TensorSpec([None], tf.string),
  "global_feature": tf.TensorSpec([None, 7], tf.float32),
}


def test_example_fits_the_signature_and_repeats_for_a_seed():
  one, other = (warmup_requests.example(SPECS, 2, 5, seed=1) for _ in range(2))
  for name, spec in SPECS.items():
    np.testing.assert_array_equal(one[name], other[name])
    assert spec.shape.is_compatible_with(one[name].shape), name
  assert one["features"].shape == (2, 5, 3)
  assert one["global_feature"].shape == (2, 7)
  assert ((one["boxes"] >= 0) & (one["boxes"] <= 1)).all()


def test_requests_survive_the_file_and_lie_where_servers_look(tmp_path):
  given = warmup_requests.example(SPECS, 1, 2)
  path = warmup_requests.write(tmp_path, "captioner", [("greedy", given), ("beam", given)])
  assert path == tmp_path / "assets.extra" / "tf_serving_warmup_requests"
  found = warmup_requests.read(tmp_path)
  assert [name for name, _ in found] == ["greedy", "beam"]
  for name in SPECS:
    np.testing.assert_array_equal(found[0][1][name], given[name])
  assert len(servables.read_warmup_requests(tmp_path)) == 2
