import pytest
from google.protobuf import any_pb2, wrappers_pb2
from tensorflow.core.framework import tensor_pb2, tensor_shape_pb2
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow_serving.apis import (
  get_model_metadata_pb2,
  get_model_status_pb2,
  model_pb2,
  predict_pb2,
)

from serving.wire import messages

OFFICIAL = {
  "Dim": tensor_shape_pb2.TensorShapeProto.Dim,
  "TensorShapeProto": tensor_shape_pb2.TensorShapeProto,
  "TensorProto": tensor_pb2.TensorProto,
  "Int64Value": wrappers_pb2.Int64Value,
  "Any": any_pb2.Any,
  "ModelSpec": model_pb2.ModelSpec,
  "PredictRequest": predict_pb2.PredictRequest,
  "PredictResponse": predict_pb2.PredictResponse,
  "TensorInfo": meta_graph_pb2.TensorInfo,
  "SignatureDef": meta_graph_pb2.SignatureDef,
  "SignatureDefMap": get_model_metadata_pb2.SignatureDefMap,
  "GetModelMetadataRequest": get_model_metadata_pb2.GetModelMetadataRequest,
  "GetModelMetadataResponse": get_model_metadata_pb2.GetModelMetadataResponse,
  "GetModelStatusRequest": get_model_status_pb2.GetModelStatusRequest,
  "ModelVersionStatus": get_model_status_pb2.ModelVersionStatus,
  "GetModelStatusResponse": get_model_status_pb2.GetModelStatusResponse,
}


@pytest.mark.parametrize("name", messages.FIELDS)
def test_fields_have_the_numbers_and_types_of_tensorflow_serving(name):
  official = OFFICIAL[name].DESCRIPTOR.fields_by_name
  for field, (number, kind) in messages.FIELDS[name].items():
    assert official[field].number == number, field
    assert official[field].is_repeated == (kind[0] in "*{"), field
    plain = kind.strip("*{}")
    other = official[field]
    if kind.startswith("{"):
      other = other.message_type.fields_by_name["value"]
    if other.message_type is not None:
      assert other.message_type.name == plain
    else:
      is_enum = other.enum_type is not None
      same = "int32" if is_enum else other.type
      names = {3: "int64", 5: "int32", 8: "bool", 2: "float", 1: "double", 9: "string", 12: "bytes"}
      assert plain == (same if is_enum else names[other.type]), field


def test_bytes_are_read_by_tensorflow_serving_and_back():
  request = messages.PredictRequest()
  request.model_spec.name = "captioner"
  request.model_spec.version.value = 3
  request.inputs["x"].string_val.extend([b"a", b"\xff"])
  request.output_filter.append("caption")
  official = predict_pb2.PredictRequest.FromString(request.SerializeToString())
  assert official.model_spec.version.value == 3
  assert list(official.inputs["x"].string_val) == [b"a", b"\xff"]
  back = messages.PredictRequest.FromString(official.SerializeToString())
  assert back == request


def test_paths_and_states_are_those_of_tensorflow_serving():
  service = "tensorflow.serving.PredictionService"
  assert f"/{service}/Predict" == messages.PREDICT
  assert f"/{service}/GetModelMetadata" == messages.METADATA
  states = get_model_status_pb2.ModelVersionStatus.State
  assert {number: name for name, number in states.items()} == messages.STATES
