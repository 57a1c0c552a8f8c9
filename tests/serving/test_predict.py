import grpc
import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2

from serving import limits, predict, servables, status
from tests.serving import harness, tiny_models

INVALID = grpc.StatusCode.INVALID_ARGUMENT


@pytest.fixture(scope="module")
def caller(tmp_path_factory):
  folder = tmp_path_factory.mktemp("captioner")
  tiny_models.save(folder, 1)
  with harness.serving(folder) as server:
    caller = harness.Caller(server)
    yield caller
    caller.close()


def changed(**changes):
  inputs = {**tiny_models.request(2, 3), **changes}
  return {name: array for name, array in inputs.items() if array is not None}


def test_unknown_model_and_version_are_not_found(caller):
  inputs = tiny_models.request(1, 1)
  assert caller.error(harness.predict_request(inputs, name="other")) == (
    grpc.StatusCode.NOT_FOUND,
    "Servable not found for request: Latest(other)",
  )
  assert caller.error(harness.predict_request(inputs, version=9)) == (
    grpc.StatusCode.NOT_FOUND,
    "Servable not found for request: Specific(captioner, 9)",
  )


def test_unknown_signature_is_a_failed_precondition(caller):
  request = harness.predict_request(tiny_models.request(1, 1), "x")
  assert caller.error(request) == (
    grpc.StatusCode.FAILED_PRECONDITION,
    'Serving signature key "x" not found.',
  )


def test_unknown_label_and_missing_names_are_invalid(caller):
  inputs = tiny_models.request(1, 1)
  assert caller.error(harness.predict_request(inputs, label="x")) == (
    INVALID,
    "Unrecognized servable version label: x",
  )
  assert caller.error(harness.predict_request(inputs, name="")) == (
    INVALID,
    "ModelSpec has no name specified.",
  )
  assert caller.error(predict_pb2.PredictRequest()) == (INVALID, "Missing ModelSpec")


@pytest.mark.parametrize(
  ("changes", "message"),
  [
    ({"boxes": None}, "Missing but required: {boxes}"),
    ({"extra": np.zeros(1, np.float32)}, "Sent extra: {extra}"),
    ({"features": np.zeros((2, 3, 4), np.float32)}, "the signature takes [?,?,3]"),
    ({"features": np.zeros((2, 3), np.float32)}, "the signature takes [?,?,3]"),
    ({"features": np.zeros((2, 3, 3), np.float64)}, "the signature takes float32"),
    ({"boxes": np.zeros((1, 3, 4), np.float32)}, "disagree on the batch size"),
    ({"boxes": np.zeros((2, 5, 4), np.float32)}, "disagree on the number of regions"),
    ({"num_regions": np.array([1, 4], np.int32)}, '"num_regions" is 4 in row 1; expected 0 to 3'),
    ({"num_regions": np.array([-1, 0], np.int32)}, '"num_regions" is -1 in row 0'),
    ({"features": np.full((2, 3, 3), np.nan, np.float32)}, "NaN or infinite"),
    ({"boxes": np.full((2, 3, 4), 640, np.float32)}, "in pixels [640, 640, 640, 640]: divide"),
    ({"boxes": np.full((2, 3, 4), 1.5, np.float32)}, "boxes go from 0 to 1; clip them"),
    ({"boxes": np.tile(np.float32([0.5, 0.5, 0.1, 0.1]), (2, 3, 1))}, "is inverted"),
    ({"boxes": np.zeros((3, 4), np.float32)}, "one list of boxes [x1, y1, x2, y2] per picture"),
  ],
)
def test_input_that_does_not_fit_is_invalid_and_named(caller, changes, message):
  code, details = caller.error(harness.predict_request(changed(**changes)))
  assert code == INVALID
  assert message in details


@pytest.mark.parametrize(
  ("pictures", "regions", "message"),
  [(129, 1, "the limit is 128"), (1, 513, "the limit is 512")],
)
def test_request_beyond_the_limits_is_invalid(caller, pictures, regions, message):
  code, details = caller.error(harness.predict_request(tiny_models.request(pictures, regions)))
  assert code == INVALID
  assert message in details


def test_output_filter_chooses_outputs(caller):
  request = harness.predict_request(tiny_models.request(1, 1))
  request.output_filter.extend(["caption", "length"])
  assert set(caller.stub.Predict(request).outputs) == {"caption", "length"}
  request.output_filter.append("x")
  code, details = caller.error(request)
  assert code == INVALID
  assert details.startswith("output tensor alias not found in signature: x")


def test_answer_names_the_version_and_signature_that_gave_it(caller):
  request = harness.predict_request(tiny_models.request(1, 1))
  spec = caller.stub.Predict(request).model_spec
  assert (spec.name, spec.version.value, spec.signature_name) == ("captioner", 1, "serving_default")


def test_failure_inside_the_graph_is_answered_and_the_next_request_too(caller):
  bad = harness.predict_request({"x": np.array([-1.0], np.float32)}, "refuse")
  code, _ = caller.error(bad)
  assert code == INVALID
  good = caller.predict({"x": np.array([2.0], np.float32)}, "refuse")
  np.testing.assert_array_equal(good["y"], [2.0])


def test_counts_requests_by_how_they_ended(caller):
  requests = caller.server.metrics.requests
  before = requests.value("captioner", "INVALID_ARGUMENT"), requests.value("unknown", "NOT_FOUND")
  caller.error(harness.predict_request({}))
  caller.error(harness.predict_request({}, name="made up by a caller"))
  after = requests.value("captioner", "INVALID_ARGUMENT"), requests.value("unknown", "NOT_FOUND")
  assert np.subtract(after, before).tolist() == [1, 1]


def test_tensor_that_repeats_one_value_is_taken(caller):
  request = harness.predict_request(tiny_models.request(2, 3))
  proto = request.inputs["features"]
  proto.ClearField("tensor_content")
  proto.float_val.append(0.5)
  answer = tf.make_ndarray(caller.stub.Predict(request).outputs["log_prob"])
  counts = tiny_models.request(2, 3)["num_regions"]
  np.testing.assert_allclose(answer, 0.5 * 3 * counts + 1, rtol=1e-6)


def test_global_features_and_grids_do_not_count_regions():
  spec = servables.Spec("x:0", tf.float32, None)
  names = ("boxes", "num_regions", "global_feature", "grid_features")
  signature = servables.Signature("greedy", dict.fromkeys(names, spec), {})
  arrays = {
    "boxes": np.zeros((1, 3, 4), np.float32),
    "num_regions": np.array([3], np.int32),
    "global_feature": np.zeros((1, 8), np.float32),
    "grid_features": np.zeros((1, 49, 5), np.float32),
  }
  predict.check_regions(arrays, signature, limits.Limits())
  with pytest.raises(status.ServingError, match="number of regions"):
    predict.check_regions(
      arrays | {"features": np.zeros((1, 2, 6), np.float32)}, signature, limits.Limits()
    )
