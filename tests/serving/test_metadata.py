import grpc
import pytest
from tensorflow_serving.apis import (
  get_model_metadata_pb2,
  get_model_status_pb2,
  model_service_pb2_grpc,
)

from tests.serving import harness, tiny_models


@pytest.fixture(scope="module")
def caller(tmp_path_factory):
  folder = tmp_path_factory.mktemp("captioner")
  tiny_models.save(folder, 4)
  with harness.serving(folder) as server:
    caller = harness.Caller(server)
    yield caller
    caller.close()


def ask(caller, name, *fields):
  request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=fields)
  request.model_spec.name = name
  return caller.stub.GetModelMetadata(request, timeout=10)


def test_metadata_lists_the_signatures(caller):
  answer = ask(caller, "captioner", "signature_def")
  assert answer.model_spec.version.value == 4
  found = get_model_metadata_pb2.SignatureDefMap()
  answer.metadata["signature_def"].Unpack(found)
  assert set(found.signature_def["beam"].inputs) == {"features", "boxes", "num_regions"}


@pytest.mark.parametrize(
  ("name", "fields", "code", "message"),
  [
    ("captioner", (), "INVALID_ARGUMENT", "at least one metadata_field"),
    ("captioner", ("x",), "INVALID_ARGUMENT", "Metadata field x is not supported"),
    ("other", ("signature_def",), "NOT_FOUND", "Latest\\(other\\)"),
    ("", ("signature_def",), "INVALID_ARGUMENT", "no name"),
  ],
)
def test_wrong_question_gets_its_code(caller, name, fields, code, message):
  with pytest.raises(grpc.RpcError, match=message) as error:
    ask(caller, name, *fields)
  assert error.value.code().name == code


def test_status_of_an_unknown_model_or_version_is_not_found(caller):
  stub = model_service_pb2_grpc.ModelServiceStub(caller.channel)
  request = get_model_status_pb2.GetModelStatusRequest()
  request.model_spec.name = "other"
  with pytest.raises(grpc.RpcError, match="Could not find any versions of model other"):
    stub.GetModelStatus(request, timeout=10)
  request.model_spec.name = "captioner"
  request.model_spec.version.value = 9
  with pytest.raises(grpc.RpcError, match="Could not find version 9 of model captioner"):
    stub.GetModelStatus(request, timeout=10)
