"""The gRPC services of TensorFlow Serving: PredictionService and ModelService.

This module parses the messages itself, so that malformed bytes get INVALID_ARGUMENT
instead of gRPC's internal error.
"""

import concurrent.futures
import contextlib
import hmac
import time
from collections.abc import Callable

import grpc
from absl import logging
from google.protobuf import message
from tensorflow_serving.apis import (
  classification_pb2,
  get_model_metadata_pb2,
  get_model_status_pb2,
  inference_pb2,
  model_management_pb2,
  model_service_pb2,
  predict_pb2,
  prediction_service_pb2,
  regression_pb2,
)

from serving import metadata, predict, status, tensors
from serving import models as models_lib

PREDICTION_SERVICE = prediction_service_pb2.DESCRIPTOR.services_by_name[
  "PredictionService"
].full_name
MODEL_SERVICE = model_service_pb2.DESCRIPTOR.services_by_name["ModelService"].full_name


class Services:
  """The methods of both services, for `grpc.Server.add_generic_rpc_handlers`."""

  def __init__(self, predictor: predict.Predictor, token: str = ""):
    self._predictor = predictor
    self._models = predictor.models
    self._token = token

  def handlers(self) -> list[grpc.GenericRpcHandler]:
    predictor = self._predictor
    return [
      grpc.method_handlers_generic_handler(
        PREDICTION_SERVICE,
        {
          "Predict": self._method(predict_pb2.PredictRequest, self.predict, predictor.slot),
          "GetModelMetadata": self._method(
            get_model_metadata_pb2.GetModelMetadataRequest, self.get_model_metadata
          ),
          "Classify": self._method(classification_pb2.ClassificationRequest, _only_predict),
          "Regress": self._method(regression_pb2.RegressionRequest, _only_predict),
          "MultiInference": self._method(inference_pb2.MultiInferenceRequest, _only_predict),
        },
      ),
      grpc.method_handlers_generic_handler(
        MODEL_SERVICE,
        {
          "GetModelStatus": self._method(
            get_model_status_pb2.GetModelStatusRequest, self.get_model_status
          ),
          "HandleReloadConfigRequest": self._method(
            model_management_pb2.ReloadConfigRequest, self.handle_reload_config
          ),
        },
      ),
    ]

  def predict(
    self, request: predict_pb2.PredictRequest, context: grpc.ServicerContext
  ) -> predict_pb2.PredictResponse:
    if not request.HasField("model_spec"):
      raise status.invalid("Missing ModelSpec")
    answer = self._predictor.predict(
      request.model_spec,
      lambda signature: predict.arrays_of(request, signature, self._predictor.limits),
      seconds=context.time_remaining(),
      entrypoint="GRPC",
      output_filter=tuple(request.output_filter),
      on_queued=lambda pending: _cancel_with(context, pending),
    )
    response = predict_pb2.PredictResponse(model_spec=answer.spec)
    for name, array in answer.outputs.items():
      response.outputs[name].CopyFrom(tensors.to_proto(array))
    return response

  def get_model_metadata(
    self,
    request: get_model_metadata_pb2.GetModelMetadataRequest,
    context: grpc.ServicerContext,
  ) -> get_model_metadata_pb2.GetModelMetadataResponse:
    del context
    return metadata.answer(self._models, request)

  def get_model_status(
    self, request: get_model_status_pb2.GetModelStatusRequest, context: grpc.ServicerContext
  ) -> get_model_status_pb2.GetModelStatusResponse:
    del context
    return metadata.status_answer(self._models, request.model_spec)

  def handle_reload_config(
    self, request: model_management_pb2.ReloadConfigRequest, context: grpc.ServicerContext
  ) -> model_management_pb2.ReloadConfigResponse:
    del context
    self._models.reconfigure(models_lib.configs_from_proto(request.config))
    response = model_management_pb2.ReloadConfigResponse()
    response.status.SetInParent()
    return response

  def _method(
    self,
    request_type: type[message.Message],
    answer: Callable[[message.Message, grpc.ServicerContext], message.Message],
    slot: Callable[[], contextlib.AbstractContextManager] = contextlib.nullcontext,
  ) -> grpc.RpcMethodHandler:
    def handle(raw: bytes, context: grpc.ServicerContext) -> bytes:
      started = time.monotonic()
      try:
        self._check_token(context)
        with slot():
          return answer(_parse(request_type, raw), context).SerializeToString()
      except status.ServingError as error:
        context.abort(error.code, error.message)
      except Exception as error:
        if not context.is_active():  # aborted above, or the client is gone
          raise
        logging.exception("A %s failed", request_type.__name__)
        elapsed = time.monotonic() - started
        context.abort(
          grpc.StatusCode.INTERNAL,
          f"{type(error).__name__} after {elapsed:.1f} s; see the server's log",
        )

    return grpc.unary_unary_rpc_method_handler(handle)

  def _check_token(self, context: grpc.ServicerContext) -> None:
    if self._token:
      sent = dict(context.invocation_metadata()).get("authorization", "")
      check_token(sent, self._token)


def check_token(sent: str | bytes, token: str) -> None:
  """Compares an `authorization` header with `Bearer TOKEN`, in constant time."""
  sent = sent if isinstance(sent, bytes) else sent.encode()
  if not hmac.compare_digest(sent, f"Bearer {token}".encode()):
    raise status.ServingError(
      grpc.StatusCode.UNAUTHENTICATED, 'send the header "authorization: Bearer TOKEN"'
    )


def _parse(request_type: type[message.Message], raw: bytes) -> message.Message:
  try:
    return request_type.FromString(raw)
  except message.DecodeError:
    raise status.invalid(
      f"the {len(raw)} bytes sent are not a {request_type.DESCRIPTOR.full_name}"
    ) from None


def _cancel_with(context: grpc.ServicerContext, pending: concurrent.futures.Future) -> None:
  """Cancels the pending answer when the client goes, or now if it is already gone."""
  if not context.add_callback(pending.cancel):
    pending.cancel()


def _only_predict(request: message.Message, context: grpc.ServicerContext) -> message.Message:
  del request, context
  raise status.ServingError(
    grpc.StatusCode.UNIMPLEMENTED, "captioners and matchers support Predict only"
  )
