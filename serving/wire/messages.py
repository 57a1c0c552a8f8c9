"""The messages of TensorFlow Serving that a client needs, made without TensorFlow.

The package `tensorflow-serving-api` imports TensorFlow, which takes seconds and a gigabyte. These
messages have the same field numbers, so their bytes are the same; a test compares the two. They
live in a pool of their own, so that a program may import both.
"""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PREDICT = "/tensorflow.serving.PredictionService/Predict"
METADATA = "/tensorflow.serving.PredictionService/GetModelMetadata"
STATUS = "/tensorflow.serving.ModelService/GetModelStatus"
STATES = {0: "UNKNOWN", 10: "START", 20: "LOADING", 30: "AVAILABLE", 40: "UNLOADING", 50: "END"}

_PACKAGE = "gcap_tf.wire"
_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
  "int32": _Field.TYPE_INT32,  # enumerations, too: both are varints
  "int64": _Field.TYPE_INT64,
  "bool": _Field.TYPE_BOOL,
  "float": _Field.TYPE_FLOAT,
  "double": _Field.TYPE_DOUBLE,
  "string": _Field.TYPE_STRING,
  "bytes": _Field.TYPE_BYTES,
}
# Message -> field -> (number, type); "*X" is a list of X, "{X}" a map from strings to X.
FIELDS: dict[str, dict[str, tuple[int, str]]] = {
  "Dim": {"size": (1, "int64")},
  "TensorShapeProto": {"dim": (2, "*Dim"), "unknown_rank": (3, "bool")},
  "TensorProto": {
    "dtype": (1, "int32"),
    "tensor_shape": (2, "TensorShapeProto"),
    "tensor_content": (4, "bytes"),
    "float_val": (5, "*float"),
    "double_val": (6, "*double"),
    "int_val": (7, "*int32"),
    "string_val": (8, "*bytes"),
    "int64_val": (10, "*int64"),
    "bool_val": (11, "*bool"),
  },
  "Int64Value": {"value": (1, "int64")},
  "Any": {"type_url": (1, "string"), "value": (2, "bytes")},
  "ModelSpec": {
    "name": (1, "string"),
    "version": (2, "Int64Value"),
    "signature_name": (3, "string"),
    "version_label": (4, "string"),
  },
  "PredictRequest": {
    "model_spec": (1, "ModelSpec"),
    "inputs": (2, "{TensorProto}"),
    "output_filter": (3, "*string"),
  },
  "PredictResponse": {"outputs": (1, "{TensorProto}"), "model_spec": (2, "ModelSpec")},
  "TensorInfo": {
    "name": (1, "string"),
    "dtype": (2, "int32"),
    "tensor_shape": (3, "TensorShapeProto"),
  },
  "SignatureDef": {"inputs": (1, "{TensorInfo}"), "outputs": (2, "{TensorInfo}")},
  "SignatureDefMap": {"signature_def": (1, "{SignatureDef}")},
  "GetModelMetadataRequest": {"model_spec": (1, "ModelSpec"), "metadata_field": (2, "*string")},
  "GetModelMetadataResponse": {"model_spec": (1, "ModelSpec"), "metadata": (2, "{Any}")},
  "GetModelStatusRequest": {"model_spec": (1, "ModelSpec")},
  "ModelVersionStatus": {"version": (1, "int64"), "state": (2, "int32")},
  "GetModelStatusResponse": {"model_version_status": (1, "*ModelVersionStatus")},
}


def _add_field(
  message: descriptor_pb2.DescriptorProto, path: str, name: str, number: int, kind: str
) -> None:
  repeated = kind[0] in "*{"
  field = message.field.add(
    name=name,
    number=number,
    label=_Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL,
  )
  plain = kind.strip("*{}")
  if kind.startswith("{"):
    entry = message.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
    entry.options.map_entry = True
    _add_field(entry, f"{path}.{entry.name}", "key", 1, "string")
    _add_field(entry, f"{path}.{entry.name}", "value", 2, plain)
    field.type, field.type_name = _Field.TYPE_MESSAGE, f"{path}.{entry.name}"
  elif plain in _SCALARS:
    field.type = _SCALARS[plain]
  else:
    field.type, field.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{plain}"


def _make_classes() -> dict[str, type]:
  file = descriptor_pb2.FileDescriptorProto(
    name="gcap_tf/wire.proto", package=_PACKAGE, syntax="proto3"
  )
  for name, fields in FIELDS.items():
    message = file.message_type.add(name=name)
    for field, (number, kind) in fields.items():
      _add_field(message, f".{_PACKAGE}.{name}", field, number, kind)
  pool = descriptor_pool.DescriptorPool()
  pool.Add(file)
  return {
    name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
    for name in FIELDS
  }


_CLASSES = _make_classes()
TensorProto = _CLASSES["TensorProto"]
PredictRequest = _CLASSES["PredictRequest"]
PredictResponse = _CLASSES["PredictResponse"]
SignatureDefMap = _CLASSES["SignatureDefMap"]
GetModelMetadataRequest = _CLASSES["GetModelMetadataRequest"]
GetModelMetadataResponse = _CLASSES["GetModelMetadataResponse"]
GetModelStatusRequest = _CLASSES["GetModelStatusRequest"]
GetModelStatusResponse = _CLASSES["GetModelStatusResponse"]
