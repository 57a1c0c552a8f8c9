import shutil

import numpy as np
import pytest

from gcap_tf import errors
from serving import servables, status
from tests.serving import tiny_models, tiny_photographs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
  return tiny_models.save(tmp_path_factory.mktemp("base"), 5)


@pytest.fixture(scope="module")
def servable(folder):
  loaded = servables.Servable(folder, servables.Threads(1, 1))
  yield loaded
  loaded.close()


def test_signatures_are_read_with_names_types_and_shapes(servable):
  signature = servable.signature("")
  assert signature.name == "serving_default"
  assert signature.inputs["features"].shape == (None, None, 3)
  assert signature.outputs["attention"].shape == (None, 2, None)
  with pytest.raises(status.ServingError, match='key "x" not found'):
    servable.signature("x")


def test_run_answers_all_or_chosen_outputs(servable):
  inputs = tiny_models.request(2, 3)
  answer = servable.run(servable.signature("greedy"), inputs)
  np.testing.assert_allclose(
    answer["log_prob"], tiny_models.expected(inputs, 5)["log_prob"], rtol=1e-5
  )
  assert set(servable.run(servable.signature("greedy"), inputs, ["length"])) == {"length"}


def test_warm_up_runs_the_recorded_requests(servable, tmp_path, folder):
  assert servable.run_warmup_requests() == 1
  without = tmp_path / "1"
  shutil.copytree(folder, without, ignore=shutil.ignore_patterns("assets.extra"))
  assert servables.read_warmup_requests(without) == []


def test_truncated_warm_up_is_named(folder, tmp_path):
  copy = tmp_path / "1"
  shutil.copytree(folder, copy)
  path = copy / servables.WARMUP_FILE
  path.write_bytes(path.read_bytes()[:-3])
  with pytest.raises(errors.UserError, match="damaged at record 0"):
    servables.read_warmup_requests(copy)


@pytest.mark.parametrize("content", [b"", b"\x0b" * 50])
def test_damaged_graph_is_named(tmp_path, content):
  (tmp_path / "saved_model.pb").write_bytes(content)
  with pytest.raises(errors.UserError, match=r"saved_model\.pb"):
    servables.Servable(tmp_path)


def test_operations_include_those_of_functions(folder):
  found = servables.operations(servables.read_meta_graph(folder))
  assert {"ReadVariableOp", "StatefulPartitionedCall", "ReduceJoin"} <= found
  assert not any(name.startswith("__inference") for name in found)


def test_captioner_of_photographs_is_recognised_by_its_signature(tmp_path):
  tiny_photographs.save(tmp_path / "photographs")
  tiny_models.save_namer(tmp_path / "labels")
  (tmp_path / "empty").mkdir()
  names = ("photographs", "labels", "empty")
  found = [servables.captions_photographs(tmp_path / name) for name in names]
  assert found == [True, False, False]
