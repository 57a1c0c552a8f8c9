import json

from absl.testing import flagsaver

from benchmarks import captioners
from tests import captioner_harness


def test_every_case_reports_speed_ratio_and_share(capsys, monkeypatch):
  captioner_harness.fix_start()
  monkeypatch.setattr(captioners, "FEATURES", 16)
  captioners.flags.FLAGS.mark_as_parsed()
  cases = ["train", "greedy_2", "beam_2"]
  with flagsaver.flagsaver(vocabulary=20, hidden=8, repeats=1, cases=cases):
    captioners.main([])
  found = json.loads(capsys.readouterr().out.splitlines()[-1])
  assert list(found) == cases
  for values in found.values():
    assert values["ours_per_second"] > 0 and values["ratio_to_plain"] > 0
    assert values["gemm_share"] > 0
