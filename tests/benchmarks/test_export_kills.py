# bazel: data = ["//export:export_model"]

from benchmarks import export_kills


def test_killed_export_leaves_no_version_that_a_server_would_take():
  found = export_kills.kills(1, span=1.0)
  assert found["held"], found
  assert found["exports"] == found["finished"] + found["hidden_leftovers"] == 1
