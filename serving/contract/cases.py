"""What a captioning server must do: one function per rule, named after it.

A case takes a `Connection` and raises AssertionError if the rule does not hold. The same
cases check TensorFlow Serving and the embedded server.
"""

from collections.abc import Callable

import grpc
import numpy as np
from tensorflow_serving.apis import get_model_metadata_pb2, get_model_status_pb2

from serving.contract.connection import Connection

FIELDS = {"caption", "words", "box_index", "grounded", "box", "attention", "log_prob", "length"}
CASES: list[Callable[[Connection], None]] = []


def case(function: Callable[[Connection], None]) -> Callable[[Connection], None]:
  CASES.append(function)
  return function


@case
def model_is_available(server: Connection) -> None:
  request = get_model_status_pb2.GetModelStatusRequest()
  request.model_spec.name = server.model
  states = [s.state for s in server.models.GetModelStatus(request).model_version_status]
  assert get_model_status_pb2.ModelVersionStatus.AVAILABLE in states, states


@case
def signatures_have_the_documented_inputs_and_outputs(server: Connection) -> None:
  found = server.signatures()
  for name in ("serving_default", "greedy", "beam"):
    of_photographs = name == "serving_default" and set(found[name].inputs) == {"image_bytes"}
    assert of_photographs or {"boxes", "num_regions"} <= set(found[name].inputs), name
    assert set(found[name].outputs) >= FIELDS, name


@case
def answers_have_the_documented_shapes(server: Connection) -> None:
  for signature in ("greedy", "beam"):
    answer = server.predict(server.inputs(3, 5), signature)
    steps = server.max_length
    shapes = {name: array.shape for name, array in answer.items() if name in FIELDS}
    assert shapes == {
      "caption": (3,),
      "words": (3, steps),
      "box_index": (3, steps),
      "grounded": (3, steps),
      "box": (3, steps, 4),
      "attention": (3, steps, 5),
      "log_prob": (3,),
      "length": (3,),
    }, shapes


@case
def words_boxes_and_caption_agree(server: Connection) -> None:
  inputs = server.inputs(4, 6, seed=1)
  answer = server.predict(inputs)
  for row in range(4):
    length = answer["length"][row]
    words = b" ".join(answer["words"][row, :length])
    assert words == answer["caption"][row]
    assert (answer["box_index"][row, :length] < inputs["num_regions"][row]).all()
    assert (answer["box_index"][row, length:] == -1).all()


@case
def padding_does_not_change_an_answer(server: Connection) -> None:
  inputs = server.inputs(2, 4, seed=2)
  padded = dict(inputs)
  for name, array in inputs.items():
    if array.ndim > 1 and array.shape[1] == 4 and name != "global_feature":
      more = np.full((2, 3, *array.shape[2:]), b"x" if array.dtype == object else 9, array.dtype)
      padded[name] = np.concatenate([array, more], 1)
  one, other = server.predict(inputs), server.predict(padded)
  assert (one["caption"] == other["caption"]).all()
  assert (one["box_index"] == other["box_index"]).all()
  assert np.allclose(one["attention"], other["attention"][:, :, :4], atol=1e-5)


@case
def other_pictures_of_the_batch_do_not_change_an_answer(server: Connection) -> None:
  inputs = server.inputs(4, 5, seed=3)
  together = server.predict(inputs)
  for row in range(4):
    alone = server.predict({name: array[row : row + 1] for name, array in inputs.items()})
    assert alone["caption"][0] == together["caption"][row]
    assert (alone["box_index"][0] == together["box_index"][row]).all()


@case
def picture_without_regions_has_no_boxes(server: Connection) -> None:
  inputs = server.inputs(1, 3)
  inputs["num_regions"][:] = 0
  answer = server.predict(inputs)
  assert (answer["box_index"] == -1).all()
  assert not answer["grounded"].any()


@case
def output_filter_selects_outputs(server: Connection) -> None:
  request = server.request(server.inputs())
  request.output_filter.append("caption")
  assert set(server.prediction.Predict(request).outputs) == {"caption"}
  request.output_filter.append("nonsense")
  assert server.code(request) == "INVALID_ARGUMENT"


@case
def unknown_model_is_not_found(server: Connection) -> None:
  assert _code_for(server, name="no_such_model") == "NOT_FOUND"


@case
def unknown_version_is_not_found(server: Connection) -> None:
  request = server.request(server.inputs())
  request.model_spec.version.value = 987654
  assert server.code(request) == "NOT_FOUND"


@case
def unknown_label_is_invalid(server: Connection) -> None:
  assert _code_for(server, version_label="no_such_label") == "INVALID_ARGUMENT"


@case
def unknown_signature_is_a_failed_precondition(server: Connection) -> None:
  assert _code_for(server, signature_name="no_such") == "FAILED_PRECONDITION"


@case
def missing_model_name_is_invalid(server: Connection) -> None:
  assert _code_for(server, name="") == "INVALID_ARGUMENT"


@case
def missing_extra_and_misnamed_inputs_are_invalid(server: Connection) -> None:
  for change in ("missing", "extra", "misnamed"):
    inputs = server.inputs()
    if change != "extra":
      inputs.pop("boxes")
    if change != "missing":
      inputs["boxxes"] = np.zeros((1, 5, 4), np.float32)
    assert server.code(server.request(inputs)) == "INVALID_ARGUMENT", change


@case
def wrong_type_and_shape_are_invalid(server: Connection) -> None:
  inputs = server.inputs()
  wrong_type = {**inputs, "boxes": inputs["boxes"].astype(np.float64)}
  wrong_shape = {**inputs, "boxes": inputs["boxes"][..., :3]}
  assert server.code(server.request(wrong_type)) == "INVALID_ARGUMENT"
  assert server.code(server.request(wrong_shape)) == "INVALID_ARGUMENT"


@case
def metadata_without_a_field_is_invalid(server: Connection) -> None:
  request = get_model_metadata_pb2.GetModelMetadataRequest()
  request.model_spec.name = server.model
  try:
    server.prediction.GetModelMetadata(request)
  except grpc.RpcError as error:
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error.code()
  else:
    raise AssertionError("metadata without a field was answered")


@case
def rest_rows_and_columns_agree_with_grpc(server: Connection) -> None:
  if not server.has_rest:
    return
  inputs = server.inputs(2, 4, seed=4)
  wanted = server.predict(inputs)
  plain = {name: _plain(array) for name, array in inputs.items()}
  rows = [{name: values[i] for name, values in plain.items()} for i in range(2)]
  path = f"/v1/models/{server.model}:predict"
  code, answer = server.rest(path, {"signature_name": "greedy", "instances": rows})
  assert code == 200, answer
  captions = [caption.decode() for caption in wanted["caption"]]
  assert [row["caption"] for row in answer["predictions"]] == captions
  code, answer = server.rest(path, {"signature_name": "greedy", "inputs": plain})
  assert code == 200, answer
  assert answer["outputs"]["caption"] == captions
  assert answer["outputs"]["box_index"] == wanted["box_index"].tolist()


@case
def rest_status_and_metadata_are_served(server: Connection) -> None:
  if not server.has_rest:
    return
  code, answer = server.rest(f"/v1/models/{server.model}")
  assert code == 200, answer
  assert answer["model_version_status"][0]["state"] == "AVAILABLE", answer
  code, answer = server.rest(f"/v1/models/{server.model}/metadata")
  assert code == 200, answer
  assert "greedy" in answer["metadata"]["signature_def"]["signature_def"]


@case
def rest_errors_have_their_codes(server: Connection) -> None:
  if not server.has_rest:
    return
  assert server.rest("/v1/models/no_such_model")[0] == 404
  code, answer = server.rest(f"/v1/models/{server.model}:predict", {"instances": []})
  assert code == 400
  assert set(answer) == {"error"}


@case
def metrics_are_served_for_prometheus(server: Connection) -> None:
  if not server.has_rest:
    return
  code, text = server.rest("/monitoring/prometheus/metrics")
  assert code == 200
  assert ":tensorflow:serving:request_count" in text


def _code_for(server: Connection, **spec: str) -> str:
  """Returns the code of a valid request whose model_spec has other values."""
  request = server.request(server.inputs())
  for field, value in spec.items():
    setattr(request.model_spec, field, value)
  return server.code(request)


def _plain(array: np.ndarray) -> list:
  if array.dtype == object:
    return [[item.decode() for item in row] for row in array]
  return array.tolist()
