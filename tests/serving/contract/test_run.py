import subprocess
import sys

import pytest

from export import saved_model
from gcap_tf import errors
from serving.contract import cases, run
from tests.export import tiny_runs
from tests.serving import harness


@pytest.fixture(scope="module")
def server(tmp_path_factory):
  """The embedded server with a really exported captioner."""
  folder = tmp_path_factory.mktemp("models")
  config = saved_model.ExportConfig(max_length=6, object_words=("man",))
  saved_model.export(tiny_runs.captioner_run(folder), folder / "captioner", config)
  with harness.serving(folder / "captioner") as server:
    yield server


def test_embedded_server_keeps_the_whole_contract(server):
  outcomes = run.check(server.address, server.rest_address)
  assert outcomes == {case.__name__: "" for case in cases.CASES}
  assert len(outcomes) >= 20


def test_server_that_lacks_a_model_is_one_clear_error(server):
  with pytest.raises(errors.UserError, match="no captioner answers: NOT_FOUND"):
    run.check(server.address, None, "other")


def test_command_tells_which_cases_hold(server):
  done = subprocess.run(
    [
      *(sys.executable, "-m", "serving.contract.run"),
      f"--address={server.address}",
      f"--rest={server.rest_address}",
    ],
    capture_output=True,
    text=True,
    timeout=300,
  )
  assert done.returncode == 0, done.stdout + done.stderr
  count = len(cases.CASES)
  assert done.stdout.splitlines()[-1] == f"{count} of {count} cases hold"
