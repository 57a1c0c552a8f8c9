"""The error of a request, with its gRPC code and HTTP status."""

import http

import grpc

MESSAGE_CHARACTERS = 1024  # longer messages are cut, as TensorFlow Serving does

_HTTP = {
  grpc.StatusCode.INVALID_ARGUMENT: http.HTTPStatus.BAD_REQUEST,
  grpc.StatusCode.UNAUTHENTICATED: http.HTTPStatus.UNAUTHORIZED,
  grpc.StatusCode.NOT_FOUND: http.HTTPStatus.NOT_FOUND,
  grpc.StatusCode.FAILED_PRECONDITION: http.HTTPStatus.PRECONDITION_FAILED,
  grpc.StatusCode.RESOURCE_EXHAUSTED: http.HTTPStatus.TOO_MANY_REQUESTS,
  grpc.StatusCode.CANCELLED: http.HTTPStatus.REQUEST_TIMEOUT,
  grpc.StatusCode.UNIMPLEMENTED: http.HTTPStatus.NOT_IMPLEMENTED,
  grpc.StatusCode.UNAVAILABLE: http.HTTPStatus.SERVICE_UNAVAILABLE,
  grpc.StatusCode.DEADLINE_EXCEEDED: http.HTTPStatus.GATEWAY_TIMEOUT,
}


class ServingError(Exception):
  """A request that cannot be answered, and the code that says why."""

  def __init__(self, code: grpc.StatusCode, message: str):
    super().__init__(message)
    self.code = code
    self.message = message[:MESSAGE_CHARACTERS]

  @property
  def http_status(self) -> http.HTTPStatus:
    return _HTTP.get(self.code, http.HTTPStatus.INTERNAL_SERVER_ERROR)


def invalid(message: str) -> ServingError:
  return ServingError(grpc.StatusCode.INVALID_ARGUMENT, message)


def not_found(message: str) -> ServingError:
  return ServingError(grpc.StatusCode.NOT_FOUND, message)


def unavailable(message: str) -> ServingError:
  return ServingError(grpc.StatusCode.UNAVAILABLE, message)


def deadline_exceeded(message: str) -> ServingError:
  return ServingError(grpc.StatusCode.DEADLINE_EXCEEDED, message)


def failed_precondition(message: str) -> ServingError:
  return ServingError(grpc.StatusCode.FAILED_PRECONDITION, message)


def internal(message: str) -> ServingError:
  return ServingError(grpc.StatusCode.INTERNAL, message)


def code_number(code: grpc.StatusCode) -> int:
  """The number of a code in `google.rpc.Code` and `tensorflow.error.Code`."""
  return code.value[0]
