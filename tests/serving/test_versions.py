import concurrent.futures
import shutil
import threading

import grpc
import numpy as np
import pytest
from tensorflow_serving.apis import (
  get_model_status_pb2,
  model_management_pb2,
  model_pb2,
  model_service_pb2_grpc,
)

from serving import embedded, versions
from tests.serving import harness, tiny_models


def states(server, **spec):
  found = server.models.statuses(model_pb2.ModelSpec(name="captioner", **spec))
  names = get_model_status_pb2.ModelVersionStatus.State
  return {entry.version: names.Name(entry.state) for entry in found}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
  """Versions 1 to 3, to be copied to where they are needed."""
  folder = tmp_path_factory.mktemp("stored")
  for number in (1, 2, 3):
    tiny_models.save(folder, number)
  return folder


def publish(stored, base, number):
  """Copies under a name that servers ignore, then renames."""
  partial = base / f".{number}.partial"
  shutil.copytree(stored / str(number), partial)
  partial.rename(base / str(number))


def test_only_whole_integer_folders_are_versions(stored, tmp_path):
  for name in ("1", "002"):
    shutil.copytree(stored / "1", tmp_path / name)
  for name in ("v3", "4.partial", ".5", "-6", "٧"):
    shutil.copytree(stored / "1", tmp_path / name)
  (tmp_path / "8").mkdir()  # nothing in it yet
  config = versions.ModelConfig("captioner", tmp_path, latest=0)
  assert set(versions.wanted_versions(config)) == {1, 2}


def test_policies_choose_the_latest_all_or_the_named(stored):
  def wanted(**policy):
    return set(versions.wanted_versions(versions.ModelConfig("captioner", stored, **policy)))

  assert wanted() == {3}
  assert wanted(latest=2) == {2, 3}
  assert wanted(latest=0) == {1, 2, 3}
  assert wanted(specific=(1, 9)) == {1}


def test_new_version_takes_over_and_the_old_one_ends(stored, tmp_path):
  publish(stored, tmp_path, 1)
  with harness.serving(tmp_path) as server:
    caller = harness.Caller(server)
    inputs = tiny_models.request(1, 2)
    harness.check_answer(inputs, caller.predict(inputs), 1)
    publish(stored, tmp_path, 2)
    harness.wait_until(lambda: states(server) == {1: "END", 2: "AVAILABLE"})
    harness.check_answer(inputs, caller.predict(inputs), 2)
    caller.close()


def test_swaps_under_load_lose_no_request_and_mix_no_versions(stored, tmp_path):
  publish(stored, tmp_path, 1)
  with harness.serving(tmp_path) as server:
    caller = harness.Caller(server)
    stop = threading.Event()

    def ask(seed):
      answered, last = 0, 0
      while not stop.is_set():
        inputs = tiny_models.request(2, 1 + seed % 5, seed)
        answer = caller.predict(inputs)
        version = round(
          float(answer["log_prob"][0] - tiny_models.expected(inputs, 0)["log_prob"][0])
        )
        harness.check_answer(inputs, answer, version)
        assert version >= last, "an older version answered after a newer one"
        answered, last = answered + 1, version
      return answered

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
      workers = [pool.submit(ask, seed) for seed in range(8)]
      for number in (2, 3):
        publish(stored, tmp_path, number)
        harness.wait_until(lambda n=number: server.models.available()["captioner"] == [n])
      stop.set()
      assert sum(worker.result() for worker in workers) > 20
    caller.close()


@pytest.mark.parametrize("damage", ["graph", "variables", "warm_up", "warm_up_request"])
def test_broken_version_never_takes_traffic(stored, tmp_path, damage):
  publish(stored, tmp_path, 1)
  with harness.serving(tmp_path) as server:
    broken = tmp_path / ".broken"
    shutil.copytree(stored / "2", broken)
    if damage == "graph":
      (broken / "saved_model.pb").write_bytes(b"\x0b" * 100)
    elif damage == "variables":
      (broken / "variables" / "variables.data-00000-of-00001").unlink()
    elif damage == "warm_up":
      (broken / "assets.extra" / "tf_serving_warmup_requests").write_bytes(b"no record")
    else:
      tiny_models.write_warmup_requests(broken, feature_size=99)
    broken.rename(tmp_path / "2")
    harness.wait_until(lambda: states(server).get(2) == "END")
    assert states(server)[1] == "AVAILABLE"
    (entry,) = [
      e for e in server.models.statuses(model_pb2.ModelSpec(name="captioner")) if e.version == 2
    ]
    assert entry.status.error_message
    caller = harness.Caller(server)
    inputs = tiny_models.request(1, 2)
    harness.check_answer(inputs, caller.predict(inputs), 1)
    caller.close()
    shutil.rmtree(tmp_path / "2")
    publish(stored, tmp_path, 2)
    harness.wait_until(lambda: states(server)[2] == "AVAILABLE")


def test_last_version_stays_when_it_vanishes_from_the_disk(stored, tmp_path):
  publish(stored, tmp_path, 1)
  with harness.serving(tmp_path) as server:
    shutil.rmtree(tmp_path / "1")
    server.models._models["captioner"].refresh()
    assert states(server) == {1: "AVAILABLE"}
    caller = harness.Caller(server)
    inputs = tiny_models.request(1, 2)
    harness.check_answer(inputs, caller.predict(inputs), 1)
    caller.close()


def test_version_appears_after_the_server_started_empty(stored, tmp_path):
  with harness.serving(tmp_path) as server:
    assert not server.models.ready()
    caller = harness.Caller(server)
    code, message = caller.error(harness.predict_request(tiny_models.request(1, 1)))
    assert (code, message) == (
      grpc.StatusCode.NOT_FOUND,
      "Servable not found for request: Latest(captioner)",
    )
    publish(stored, tmp_path, 1)
    harness.wait_until(server.models.ready)
    caller.predict(tiny_models.request(1, 1))
    caller.close()


def reload_request(base, *, latest=None, labels=(), name="captioner"):
  request = model_management_pb2.ReloadConfigRequest()
  entry = request.config.model_config_list.config.add(name=name, base_path=str(base))
  if latest:
    entry.model_version_policy.latest.num_versions = latest
  entry.version_labels.update(dict(labels))
  return request


def test_labels_and_numbers_choose_versions_and_move_by_reload(stored):
  config = versions.ModelConfig("captioner", stored, latest=2, labels={"stable": 2})
  with embedded.Server(embedded.ServerConfig(models=(config,))) as server:
    caller = harness.Caller(server)
    inputs = tiny_models.request(1, 2)
    harness.check_answer(inputs, caller.predict(inputs, label="stable"), 2)
    harness.check_answer(inputs, caller.predict(inputs, version=2), 2)
    harness.check_answer(inputs, caller.predict(inputs), 3)
    stub = model_service_pb2_grpc.ModelServiceStub(caller.channel)
    answer = stub.HandleReloadConfigRequest(
      reload_request(stored, latest=2, labels={"stable": 3, "old": 2}.items())
    )
    assert answer.status.error_code == 0
    harness.check_answer(inputs, caller.predict(inputs, label="stable"), 3)
    harness.check_answer(inputs, caller.predict(inputs, label="old"), 2)
    with pytest.raises(grpc.RpcError, match="a label points at version 77"):
      stub.HandleReloadConfigRequest(
        reload_request(stored, latest=2, labels={"stable": 77}.items())
      )
    harness.check_answer(inputs, caller.predict(inputs, label="stable"), 3)
    caller.close()


def test_bad_reload_changes_nothing(stored, tmp_path):
  with harness.serving(stored) as server:
    caller = harness.Caller(server)
    stub = model_service_pb2_grpc.ModelServiceStub(caller.channel)
    for request, message in (
      (model_management_pb2.ReloadConfigRequest(), "model_config_list"),
      (reload_request(tmp_path / "absent"), "does not exist"),
      (reload_request(tmp_path, name="empty"), "no version in"),
    ):
      with pytest.raises(grpc.RpcError, match=message):
        stub.HandleReloadConfigRequest(request)
    inputs = tiny_models.request(1, 2)
    harness.check_answer(inputs, caller.predict(inputs), 3)
    caller.close()


def test_reload_adds_and_removes_models(stored):
  with harness.serving(stored) as server:
    caller = harness.Caller(server)
    stub = model_service_pb2_grpc.ModelServiceStub(caller.channel)
    request = reload_request(stored)
    request.config.model_config_list.config.add(name="second", base_path=str(stored))
    stub.HandleReloadConfigRequest(request)
    inputs = tiny_models.request(1, 2)
    harness.check_answer(inputs, caller.predict(inputs, name="second"), 3)
    stub.HandleReloadConfigRequest(reload_request(stored))
    code, _ = caller.error(harness.predict_request(inputs, name="second"))
    assert code == grpc.StatusCode.NOT_FOUND
    caller.close()


def test_request_under_way_keeps_its_version_loaded(stored, tmp_path):
  publish(stored, tmp_path, 1)
  with harness.serving(tmp_path) as server:
    caller = harness.Caller(server)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
      slow = {"seconds_in_tenths": np.array([15], np.int32)}
      pending = pool.submit(caller.predict, slow, "sleep")
      harness.wait_until(lambda: server.metrics.batch_rows.count("captioner", "sleep") == 1)
      publish(stored, tmp_path, 2)
      harness.wait_until(lambda: 2 in server.models.available()["captioner"])
      assert pending.result()["done"].shape == (1,)
    harness.wait_until(lambda: states(server)[1] == "END")
    caller.close()
