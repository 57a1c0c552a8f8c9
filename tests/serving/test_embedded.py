import concurrent.futures
import gc
import threading
import weakref

import grpc
import numpy as np
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tensorflow_serving.apis import prediction_service_pb2_grpc

from gcap_tf import errors
from serving import batching, embedded, limits
from tests.serving import harness, tiny_models


@pytest.fixture(scope="module")
def base(tmp_path_factory):
  folder = tmp_path_factory.mktemp("captioner")
  tiny_models.save(folder, 1)
  return folder


@pytest.fixture(scope="module")
def server(base):
  with harness.serving(base) as server:
    yield server


@pytest.fixture(scope="module")
def caller(server):
  caller = harness.Caller(server)
  yield caller
  caller.close()


def test_answer_is_the_models(caller):
  inputs = tiny_models.request(3, 5)
  answer = caller.predict(inputs)
  harness.check_answer(inputs, answer, 1)
  assert set(answer) == {
    "caption",
    "words",
    "box_index",
    "grounded",
    "box",
    "attention",
    "log_prob",
    "length",
  }


def test_empty_batch_and_zero_regions_are_answered(caller):
  assert caller.predict(tiny_models.request(0, 3))["caption"].shape == (0,)
  assert caller.predict(tiny_models.request(2, 0))["attention"].shape == (2, 2, 0)


def test_concurrent_requests_of_all_sizes_get_their_own_answers(caller, server):
  def ask(seed):
    inputs = tiny_models.request(1 + seed % 3, 1 + seed % 9, seed)
    harness.check_answer(inputs, caller.predict(inputs), 1)

  with concurrent.futures.ThreadPoolExecutor(24) as pool:
    list(pool.map(ask, range(200)))
  batches = server.metrics.batch_rows.count("captioner", "serving_default")
  assert batches < 200, "no two requests ever ran together"


def health(server):
  with grpc.insecure_channel(server.address) as channel:
    answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
  return health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)


def test_health_service_says_serving(server):
  assert health(server) == "SERVING"


def test_server_becomes_healthy_with_its_first_version(tmp_path):
  with harness.serving(tmp_path) as server:
    assert health(server) == "NOT_SERVING"
    tiny_models.save(tmp_path, 1)
    harness.wait_until(lambda: health(server) == "SERVING")


def test_reflection_lists_both_services(server):
  with grpc.insecure_channel(server.address) as channel:
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    (answer,) = stub.ServerReflectionInfo(iter([request]))
  names = {service.name for service in answer.list_services_response.service}
  assert {"tensorflow.serving.PredictionService", "tensorflow.serving.ModelService"} <= names


def test_full_server_refuses_at_once_and_recovers(base):
  few = limits.Limits(in_flight=2)
  with harness.serving(base, limits=few) as server:
    caller = harness.Caller(server)
    slow = {"seconds_in_tenths": np.array([20], np.int32)}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
      busy = [pool.submit(caller.predict, slow, "sleep") for _ in range(2)]
      harness.wait_until(lambda: server.predictor._slots._value == 0)
      code, message = caller.error(harness.predict_request(tiny_models.request(1, 1)))
      assert not any(future.done() for future in busy), "it waited for the busy ones"
      assert code == grpc.StatusCode.UNAVAILABLE
      assert "works on 2 requests" in message
      for future in busy:
        future.result()
    caller.predict(tiny_models.request(1, 1))
    assert server.metrics.refused.value("in_flight") == 1
    caller.close()


def test_a_unix_socket_answers_as_the_port_does(base, tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)  # The path of a socket has at most 107 characters.
  inputs = tiny_models.request(1, 2)
  with (
    harness.serving(base, socket_path="socket") as server,
    grpc.insecure_channel("unix:socket") as channel,
  ):
    caller = harness.Caller(server)
    wanted = caller.predict(inputs)
    caller.stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
    np.testing.assert_array_equal(caller.predict(inputs)["caption"], wanted["caption"])
    caller.close()
  with pytest.raises(errors.UserError, match="cannot listen on unix:"):
    embedded.Server(harness.config(base, socket_path="no/such/folder"))


def test_message_beyond_the_limit_is_refused(base):
  with harness.serving(base, limits=limits.Limits(message_bytes=2000)) as server:
    caller = harness.Caller(server)
    caller.predict(tiny_models.request(1, 2))
    code, _ = caller.error(harness.predict_request(tiny_models.request(9, 20)))
    assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
    caller.close()


def test_requests_past_their_deadline_are_dropped_unrun(base):
  with harness.serving(base, batching=batching.BatchingConfig(num_batch_threads=1)) as server:
    caller = harness.Caller(server)
    slow = {"seconds_in_tenths": np.array([30], np.int32)}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
      first = pool.submit(caller.predict, slow, "sleep")
      harness.wait_until(lambda: server.metrics.batch_rows.count("captioner", "sleep") == 1)
      code, _ = caller.error(harness.predict_request(slow, "sleep"), timeout=0.1)
      assert code == grpc.StatusCode.DEADLINE_EXCEEDED
      first.result()
    harness.wait_until(lambda: server.models.waiting()["captioner"] == 0)
    assert server.metrics.batch_rows.count("captioner", "sleep") == 1, "the late one ran"
    caller.close()


def test_stop_answers_what_is_under_way(base):
  server = embedded.Server(harness.config(base)).start()
  caller = harness.Caller(server)
  slow = {"seconds_in_tenths": np.array([10], np.int32)}
  with concurrent.futures.ThreadPoolExecutor(1) as pool:
    pending = pool.submit(caller.predict, slow, "sleep")
    harness.wait_until(lambda: server.metrics.batch_rows.count("captioner", "sleep") == 1)
    server.stop(grace_seconds=60)
    assert pending.result()["done"].shape == (1,)
  caller.close()


def test_stopped_server_leaves_no_thread_behind(base):
  before = threading.active_count()
  with harness.serving(base) as server:
    caller = harness.Caller(server)
    caller.predict(tiny_models.request(1, 1))
    caller.rest("/v1/models/captioner")
    caller.close()
  harness.wait_until(lambda: threading.active_count() <= before + 1)


def test_taken_port_is_one_clear_error(server, base):
  with pytest.raises(errors.UserError, match=r"cannot listen on 127\.0\.0\.1"):
    embedded.Server(harness.config(base, port=server.port))
  with pytest.raises(errors.UserError, match=r"cannot listen on 127\.0\.0\.1"):
    embedded.Server(harness.config(base, rest_port=server.rest_port))


def test_token_is_asked_for_on_both_sides(base):
  with harness.serving(base, token="secret") as server:
    caller = harness.Caller(server)
    request = harness.predict_request(tiny_models.request(1, 1))
    assert caller.error(request)[0] == grpc.StatusCode.UNAUTHENTICATED
    right = [("authorization", "Bearer secret")]
    assert caller.stub.Predict(request, metadata=right).outputs["length"].int_val == [2]
    with pytest.raises(grpc.RpcError, match="UNAUTHENTICATED"):
      caller.stub.Predict(request, metadata=[("authorization", "Bearer wrong")])
    assert caller.rest("/v1/models/captioner")[0] == 401
    status, _ = caller.rest("/v1/models/captioner", headers={"Authorization": "Bearer secret"})
    assert status == 200
    caller.close()


class Node:
  """An object that only a collection frees, as it holds itself."""

  def __init__(self):
    self.itself = self


def test_frozen_objects_are_visited_again_only_when_versions_change():
  node = Node()
  alive = weakref.ref(node)
  try:
    embedded.freeze_objects()
    assert gc.get_freeze_count() > 100_000, "TensorFlow's objects are left out"
    del node
    gc.collect()
    assert alive() is not None
    embedded.freeze_objects()
    assert alive() is None, "an unloaded version would stay for ever"
  finally:
    gc.unfreeze()
