# bazel: data = ["//export:export_model"]

from benchmarks.load import export_kills


def test_killed_export_leaves_no_version_that_a_server_would_take():
  found = export_kills.kills(1, span=0.5)
  assert found["held"], found
  assert found["killed_while_writing"] == found["hidden_leftovers"] == 1
  assert found["exports"] == found["finished"] + 1
