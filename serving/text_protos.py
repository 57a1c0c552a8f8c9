"""Reads option files of TensorFlow Serving whose messages tensorflow-serving-api lacks.

This module declares the two messages with the field names and types of
`session_bundle_config.proto` and `monitoring_config.proto`. The text form uses names only,
so the same files work in TensorFlow Serving.
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
from serving import batching

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


def batching_message() -> Any:
  """Returns an empty BatchingParameters."""
  return _messages()["BatchingParameters"]()


def monitoring_message() -> Any:
  """Returns an empty MonitoringConfig."""
  return _messages()["MonitoringConfig"]()


def read_batching(path: str | None) -> batching.BatchingConfig:
  """Reads a `--batching_parameters_file`; returns the defaults if there is none."""
  if path is None:
    return batching.BatchingConfig()
  try:
    found = text_format.Parse(pathlib.Path(path).read_text(), batching_message())
  except text_format.ParseError as error:
    raise errors.UserError(f"batching parameters {path}: {error}") from None
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
  pool = descriptor_pool.DescriptorPool()
  wrappers = descriptor_pb2.FileDescriptorProto()
  wrappers_pb2.DESCRIPTOR.CopyToProto(wrappers)
  pool.Add(wrappers)
  pool.Add(file)
  return {
    name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"tensorflow.serving.{name}"))
    for name in ("BatchingParameters", "MonitoringConfig")
  }
