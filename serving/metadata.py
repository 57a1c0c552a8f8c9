"""Answers questions about the models: their signatures and the state of their versions."""

from tensorflow_serving.apis import get_model_metadata_pb2, get_model_status_pb2, model_pb2

from serving import models as models_lib
from serving import status

SIGNATURE_FIELD = "signature_def"


def answer(
  models: models_lib.Models, request: get_model_metadata_pb2.GetModelMetadataRequest
) -> get_model_metadata_pb2.GetModelMetadataResponse:
  """Returns the signatures of the requested version."""
  if not request.HasField("model_spec"):
    raise status.invalid("Missing ModelSpec")
  if not request.metadata_field:
    raise status.invalid("GetModelMetadataRequest must specify at least one metadata_field")
  for field in request.metadata_field:
    if field != SIGNATURE_FIELD:
      raise status.invalid(f"Metadata field {field} is not supported")
  with models.use(request.model_spec) as version:
    response = get_model_metadata_pb2.GetModelMetadataResponse()
    response.model_spec.name = request.model_spec.name
    response.model_spec.version.value = version.number
    signatures = get_model_metadata_pb2.SignatureDefMap()
    for name, definition in version.servable.meta_graph.signature_def.items():
      signatures.signature_def[name].CopyFrom(definition)
    response.metadata[SIGNATURE_FIELD].Pack(signatures)
    return response


def status_answer(
  models: models_lib.Models, spec: model_pb2.ModelSpec
) -> get_model_status_pb2.GetModelStatusResponse:
  """Returns the state of the requested version, or of every version."""
  if not spec.name:
    raise status.invalid("Missing ModelSpec")
  if not models.knows(spec.name):
    raise status.not_found(f"Could not find any versions of model {spec.name}")
  response = get_model_status_pb2.GetModelStatusResponse()
  response.model_version_status.extend(models.statuses(spec))
  return response
