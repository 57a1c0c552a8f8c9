"""The `tf.train.Example` message without TensorFlow.

Importing TensorFlow would take every worker of a data preparation seconds.
The three message types are described here field by field; the bytes on disk are those
of `tf.train.Example`, so `tf.io.parse_single_example` reads them.
"""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "gcap_tf.example"
_FIELD = descriptor_pb2.FieldDescriptorProto


def _list_message(name: str, kind: int) -> descriptor_pb2.DescriptorProto:
  message = descriptor_pb2.DescriptorProto(name=name)
  message.field.add(name="value", number=1, label=_FIELD.LABEL_REPEATED, type=kind)
  return message


def _feature_message() -> descriptor_pb2.DescriptorProto:
  message = descriptor_pb2.DescriptorProto(name="Feature")
  message.oneof_decl.add(name="kind")
  for number, (field, kind) in enumerate(
    (("bytes_list", "BytesList"), ("float_list", "FloatList"), ("int64_list", "Int64List")), 1
  ):
    message.field.add(
      name=field,
      number=number,
      label=_FIELD.LABEL_OPTIONAL,
      type=_FIELD.TYPE_MESSAGE,
      type_name=f".{_PACKAGE}.{kind}",
      oneof_index=0,
    )
  return message


def _features_message() -> descriptor_pb2.DescriptorProto:
  message = descriptor_pb2.DescriptorProto(name="Features")
  entry = message.nested_type.add(name="FeatureEntry")
  entry.options.map_entry = True
  entry.field.add(name="key", number=1, label=_FIELD.LABEL_OPTIONAL, type=_FIELD.TYPE_STRING)
  entry.field.add(
    name="value",
    number=2,
    label=_FIELD.LABEL_OPTIONAL,
    type=_FIELD.TYPE_MESSAGE,
    type_name=f".{_PACKAGE}.Feature",
  )
  message.field.add(
    name="feature",
    number=1,
    label=_FIELD.LABEL_REPEATED,
    type=_FIELD.TYPE_MESSAGE,
    type_name=f".{_PACKAGE}.Features.FeatureEntry",
  )
  return message


def _example_message() -> descriptor_pb2.DescriptorProto:
  message = descriptor_pb2.DescriptorProto(name="Example")
  message.field.add(
    name="features",
    number=1,
    label=_FIELD.LABEL_OPTIONAL,
    type=_FIELD.TYPE_MESSAGE,
    type_name=f".{_PACKAGE}.Features",
  )
  return message


def _example_class() -> type:
  # A separate pool: the default one may hold TensorFlow's messages as well.
  pool = descriptor_pool.DescriptorPool()
  pool.Add(
    descriptor_pb2.FileDescriptorProto(
      name="gcap_tf/example.proto",
      package=_PACKAGE,
      syntax="proto3",
      message_type=[
        _list_message("BytesList", _FIELD.TYPE_BYTES),
        _list_message("FloatList", _FIELD.TYPE_FLOAT),
        _list_message("Int64List", _FIELD.TYPE_INT64),
        _feature_message(),
        _features_message(),
        _example_message(),
      ],
    )
  )
  return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Example"))


Example = _example_class()
