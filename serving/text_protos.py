"""Reads option files of TensorFlow Serving whose messages tensorflow-serving-api lacks.

This module declares the messages with the field names and types of `session_bundle_config.proto`,
`monitoring_config.proto` and `ssl_config.proto`. The text form uses names only, so the same files
work in TensorFlow Serving.
"""

import functools
import pathlib
from typing import Any

from google.protobuf import (
  descriptor_pb2,
  descriptor_pool,
  message_factory,
  text_format,
  wrappers_pb2,
)

from gcap_tf import errors
from serving import batching, metrics

_INT64 = ".google.protobuf.Int64Value"
_BOOL = ".google.protobuf.BoolValue"
_STRING = ".google.protobuf.StringValue"
_Field = descriptor_pb2.FieldDescriptorProto

_BATCHING_FIELDS = {
  "max_batch_size": _INT64,
  "batch_timeout_micros": _INT64,
  "max_enqueued_batches": _INT64,
  "num_batch_threads": _INT64,
  "thread_pool_name": _STRING,
  "allowed_batch_sizes": _Field.TYPE_INT64,
  "pad_variable_length_inputs": _Field.TYPE_BOOL,
  "enable_large_batch_splitting": _BOOL,
  "max_execution_batch_size": _INT64,
}
_SSL_FIELDS = {
  "server_key": _Field.TYPE_STRING,
  "server_cert": _Field.TYPE_STRING,
  "custom_ca": _Field.TYPE_STRING,
  "client_verify": _Field.TYPE_BOOL,
}


def batching_message() -> Any:
  """Returns an empty BatchingParameters."""
  return _messages()["BatchingParameters"]()


def monitoring_message() -> Any:
  """Returns an empty MonitoringConfig."""
  return _messages()["MonitoringConfig"]()


def read_metrics_path(path: str | None) -> str:
  """The path of the metrics from a `--monitoring_config_file`; "" if they are turned off."""
  if path is None:
    return metrics.PATH
  found = _read(path, monitoring_message(), "monitoring configuration").prometheus_config
  if not found.enable:
    return ""
  if found.path and not found.path.startswith("/"):
    raise errors.UserError(f"monitoring configuration {path}: the path must begin with /")
  return found.path or metrics.PATH


def read_ssl(path: str) -> Any:
  """Reads a `--ssl_config_file`: server_key, server_cert, custom_ca, client_verify."""
  return _read(path, _messages()["SSLConfig"](), "SSL configuration")


def _read(path: str, message: Any, what: str) -> Any:
  try:
    return text_format.Parse(pathlib.Path(path).read_text(encoding="utf-8"), message)
  except FileNotFoundError:
    raise errors.UserError(f"{what} {path} does not exist") from None
  except (text_format.ParseError, UnicodeDecodeError) as error:
    raise errors.UserError(f"{what} {path}: {error}") from None


def read_batching(path: str | None) -> batching.BatchingConfig:
  """Reads a `--batching_parameters_file`; returns the defaults if there is none."""
  if path is None:
    return batching.BatchingConfig()
  found = _read(path, batching_message(), "batching parameters")
  chosen = {}
  for name in ("max_batch_size", "batch_timeout_micros", "num_batch_threads"):
    if found.HasField(name):
      value = getattr(found, name).value
      if value < (0 if name == "batch_timeout_micros" else 1):
        raise errors.UserError(f"batching parameters {path}: {name} is {value}, too small")
      chosen[name] = value
  return batching.BatchingConfig(**chosen)


@functools.cache
def _messages() -> dict[str, Any]:
  file = descriptor_pb2.FileDescriptorProto(
    name="gcap_tf/serving_options.proto",
    package="tensorflow.serving",
    syntax="proto3",
    dependency=["google/protobuf/wrappers.proto"],
  )
  parameters = file.message_type.add(name="BatchingParameters")
  for number, (name, kind) in enumerate(_BATCHING_FIELDS.items(), 1):
    repeated = name == "allowed_batch_sizes"
    field = parameters.field.add(
      name=name, number=number, label=_Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
    )
    if isinstance(kind, str):
      field.type, field.type_name = _Field.TYPE_MESSAGE, kind
    else:
      field.type = kind
  prometheus = file.message_type.add(name="PrometheusConfig")
  prometheus.field.add(name="enable", number=1, type=_Field.TYPE_BOOL, label=_Field.LABEL_OPTIONAL)
  prometheus.field.add(name="path", number=2, type=_Field.TYPE_STRING, label=_Field.LABEL_OPTIONAL)
  monitoring = file.message_type.add(name="MonitoringConfig")
  monitoring.field.add(
    name="prometheus_config",
    number=1,
    type=_Field.TYPE_MESSAGE,
    type_name=".tensorflow.serving.PrometheusConfig",
    label=_Field.LABEL_OPTIONAL,
  )
  secured = file.message_type.add(name="SSLConfig")
  for number, (name, kind) in enumerate(_SSL_FIELDS.items(), 1):
    secured.field.add(name=name, number=number, type=kind, label=_Field.LABEL_OPTIONAL)
  pool = descriptor_pool.DescriptorPool()
  wrappers = descriptor_pb2.FileDescriptorProto()
  wrappers_pb2.DESCRIPTOR.CopyToProto(wrappers)
  pool.Add(wrappers)
  pool.Add(file)
  return {
    name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"tensorflow.serving.{name}"))
    for name in ("BatchingParameters", "MonitoringConfig", "SSLConfig")
  }
