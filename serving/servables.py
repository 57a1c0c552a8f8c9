"""One loaded version of a model: its signatures, how to run them, its warm-up.

A version is loaded into a graph and a session of its own, as TensorFlow Serving
does: what loads here loads there, and closing the session gives all memory back.
"""

import dataclasses
import pathlib
from collections.abc import Mapping

import numpy as np
import tensorflow as tf
from google.protobuf import message
from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2
from tensorflow.python.framework import op_def_registry
from tensorflow.python.saved_model import loader_impl
from tensorflow_serving.apis import prediction_log_pb2

from gcap_tf import errors
from gcap_tf.data.prepared import shards
from serving import status

PREDICT_METHOD = "tensorflow/serving/predict"
WARMUP_FILE = pathlib.Path("assets.extra") / "tf_serving_warmup_requests"
MAX_WARMUP_RECORDS = 1000


@dataclasses.dataclass(frozen=True)
class Spec:
  """One input or output of a signature.

  Attributes:
    tensor: its name in the graph.
    dtype: its type.
    shape: sizes; None where a request may choose. None for the whole where unknown.
  """

  tensor: str
  dtype: tf.DType
  shape: tuple[int | None, ...] | None


@dataclasses.dataclass(frozen=True)
class Signature:
  """What a signature takes and gives, by name."""

  name: str
  inputs: Mapping[str, Spec]
  outputs: Mapping[str, Spec]


@dataclasses.dataclass(frozen=True)
class Threads:
  """TensorFlow's thread pools for every session; 0 lets TensorFlow choose."""

  intra_op: int = 0
  inter_op: int = 0


class Servable:
  """A SavedModel that answers; `run` may be called from many threads."""

  def __init__(self, folder: pathlib.Path, threads: Threads | None = None):
    """Loads the version in `folder`; what is wrong with it is a `UserError`."""
    threads = threads or Threads()
    self.folder = folder
    self.meta_graph = read_meta_graph(folder)
    _import_missing_ops(self.meta_graph)
    self.signatures = {
      name: _signature(name, definition)
      for name, definition in self.meta_graph.signature_def.items()
      if definition.method_name == PREDICT_METHOD
    }
    graph = tf.Graph()
    self._session = tf.compat.v1.Session(
      graph=graph,
      config=tf.compat.v1.ConfigProto(
        intra_op_parallelism_threads=threads.intra_op,
        inter_op_parallelism_threads=threads.inter_op,
      ),
    )
    try:
      loader_impl.SavedModelLoader(str(folder)).load(self._session, ["serve"])
    except Exception as error:
      self._session.close()
      raise errors.UserError(f"{folder}: cannot be loaded: {_first_line(error)}") from error

  def signature(self, name: str) -> Signature:
    name = name or "serving_default"
    if name not in self.signatures:
      raise status.failed_precondition(f'Serving signature key "{name}" not found.')
    return self.signatures[name]

  def run(
    self, signature: Signature, inputs: Mapping[str, np.ndarray], outputs: list[str] | None = None
  ) -> dict[str, np.ndarray]:
    """Runs one signature on whole tensors; `outputs` chooses among its results."""
    wanted = outputs or sorted(signature.outputs)
    try:
      results = self._session.run(
        [signature.outputs[name].tensor for name in wanted],
        {signature.inputs[name].tensor: value for name, value in inputs.items()},
      )
    except tf.errors.InvalidArgumentError as error:
      raise status.invalid(_first_line(error)) from error
    except tf.errors.OpError as error:
      raise status.internal(_first_line(error)) from error
    return dict(zip(wanted, results, strict=True))

  def warm_up(self) -> int:
    """Runs the recorded requests, so that the first user does not wait; returns how many.

    A file that cannot be read or a request that fails is a `UserError`: such a
    version must not take traffic.
    """
    records = read_warmup(self.folder)
    for record in records:
      request = record.predict_log.request
      try:
        signature = self.signature(request.model_spec.signature_name)
        inputs = {name: tf.make_ndarray(tensor) for name, tensor in request.inputs.items()}
        self.run(signature, inputs)
      except Exception as error:
        raise errors.UserError(
          f"{self.folder / WARMUP_FILE}: a warm-up request fails: {_first_line(error)}"
        ) from error
    return len(records)

  def close(self) -> None:
    self._session.close()


def read_meta_graph(folder: pathlib.Path) -> meta_graph_pb2.MetaGraphDef:
  """The graph tagged "serve" of a SavedModel."""
  path = folder / "saved_model.pb"
  try:
    saved = saved_model_pb2.SavedModel.FromString(path.read_bytes())
  except message.DecodeError:
    raise errors.UserError(f"{path} is damaged: it does not parse as a SavedModel") from None
  for meta_graph in saved.meta_graphs:
    if "serve" in meta_graph.meta_info_def.tags:
      return meta_graph
  raise errors.UserError(f'{path} has no graph tagged "serve"')


def read_warmup(folder: pathlib.Path) -> list[prediction_log_pb2.PredictionLog]:
  """The recorded requests of a version; none where it has no warm-up file."""
  path = folder / WARMUP_FILE
  if not path.exists():
    return []
  records = []
  try:
    for _, raw in shards.read_all(path):
      records.append(prediction_log_pb2.PredictionLog.FromString(raw))
  except (errors.UserError, message.DecodeError):
    raise errors.UserError(f"{path} is damaged at record {len(records)}; export again") from None
  if len(records) > MAX_WARMUP_RECORDS:
    raise errors.UserError(
      f"{path} holds {len(records)} records; at most {MAX_WARMUP_RECORDS} are allowed"
    )
  return records


def operations(meta_graph: meta_graph_pb2.MetaGraphDef) -> set[str]:
  """The operations of a graph and of its function library, by type."""
  graph = meta_graph.graph_def
  found = {node.op for node in graph.node}
  functions = {function.signature.name for function in graph.library.function}
  for function in graph.library.function:
    found |= {node.op for node in function.node_def}
  return found - functions


def _import_missing_ops(meta_graph: meta_graph_pb2.MetaGraphDef) -> None:
  """Registers tensorflow_text's operations, for the graphs that need them."""
  if any(op_def_registry.get(name) is None for name in operations(meta_graph)):
    import tensorflow_text  # noqa: F401


def _signature(name: str, definition: meta_graph_pb2.SignatureDef) -> Signature:
  return Signature(
    name,
    {key: _spec(info) for key, info in definition.inputs.items()},
    {key: _spec(info) for key, info in definition.outputs.items()},
  )


def _spec(info: meta_graph_pb2.TensorInfo) -> Spec:
  shape = None
  if not info.tensor_shape.unknown_rank:
    shape = tuple(None if dim.size < 0 else dim.size for dim in info.tensor_shape.dim)
  return Spec(info.name, tf.as_dtype(info.dtype), shape)


def _first_line(error: Exception) -> str:
  return (str(error).strip() or type(error).__name__).splitlines()[0]
