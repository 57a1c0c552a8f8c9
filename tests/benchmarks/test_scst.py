import functools
import json

from absl.testing import flagsaver

from benchmarks import captioners, scst, timing
from tests import captioner_harness


def test_speed_ratio_and_shares_are_reported(capsys, monkeypatch):
  captioner_harness.fix_start()
  monkeypatch.setattr(captioners, "FEATURES", 16)
  rate = functools.partial(timing.matrix_product_rate, 256)
  monkeypatch.setattr(timing, "matrix_product_rate", rate)
  scst.flags.FLAGS.mark_as_parsed()
  with flagsaver.flagsaver(words=40, units=8, steps=1, query_captions=6, rows=4):
    scst.main([])
  found = json.loads(capsys.readouterr().out.splitlines()[-1])
  assert found["step"]["ours_samples_per_second"] > 0
  assert found["step"]["reward_share"] > 0
  assert found["self_retrieval"]["pairs_per_second"] > 0
  assert found["self_retrieval"]["gemm_share"] > 0
