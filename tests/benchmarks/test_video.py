import json

import numpy as np
from absl.testing import flagsaver

from benchmarks import video
from tests import captioner_harness


def test_a_step_of_ours_is_timed_in_a_process_of_its_own(capsys):
  captioner_harness.fix_start()
  video.flags.FLAGS.mark_as_parsed()
  with flagsaver.flagsaver(scale=64, batch=2, repeats=1, cases=["padded"]):
    video.main([])
  (found,) = json.loads(capsys.readouterr().out.splitlines()[-1]).values()
  assert found["ours_seconds"] > 0 and 0 < found["ours_gib"] < 4


def test_padding_is_left_out_for_ours_alone():
  video.flags.FLAGS.mark_as_parsed()
  with flagsaver.flagsaver(scale=64, batch=5):
    arrays = video.make_arrays("padded")
    batch = video.tensors(arrays)
  most = int(arrays["region_mask"].sum(1).max())
  assert batch["features"].shape[1] == most < arrays["features"].shape[1]
  inside = arrays["in_segment"]
  for (first, end), row in zip(batch["segment"].numpy(), inside, strict=True):
    np.testing.assert_array_equal(np.flatnonzero(row), np.arange(first, end))
