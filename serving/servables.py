"""One loaded version of a model: its signatures and how to run them.

Each version is loaded into its own graph and session, as in TensorFlow Serving: a version
that loads here loads there, and closing the session frees all memory.
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

from gcap_tf import config as configs
from gcap_tf import errors, saved_graphs
from gcap_tf.data.prepared import shards
from serving import status

PREDICT_METHOD = "tensorflow/serving/predict"
WARMUP_FILE = pathlib.Path("assets.extra") / "tf_serving_warmup_requests"
MAX_WARMUP_RECORDS = 1000
PHOTOGRAPH_SIGNATURE = "caption_image"


@dataclasses.dataclass(frozen=True)
class Spec:
  """One input or output of a signature.

  Attributes:
    tensor: name of the tensor in the graph.
    dtype: type of its elements.
    shape: sizes, None for a size that the request chooses; None if the rank is unknown.
  """

  tensor: str
  dtype: tf.DType
  shape: tuple[int | None, ...] | None


@dataclasses.dataclass(frozen=True)
class Signature:
  """The inputs and outputs of a signature, by name."""

  name: str
  inputs: Mapping[str, Spec]
  outputs: Mapping[str, Spec]


@dataclasses.dataclass(frozen=True)
class Threads:
  """Sizes of TensorFlow's thread pools; 0 lets TensorFlow choose.

  Attributes:
    intra_op: threads of one operation.
    inter_op: operations that run at once.
  """

  intra_op: configs.Count = 0
  inter_op: configs.Count = 0


class Servable:
  """A loaded SavedModel; several threads may call `run`."""

  def __init__(self, folder: pathlib.Path, threads: Threads | None = None):
    """Loads the version in `folder`; a damaged version is a `UserError`."""
    threads = threads or Threads()
    self.folder = folder
    saved_graphs.check(folder)
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
    """Runs one signature on whole tensors; `outputs` selects some of its results."""
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

  def run_warmup_requests(self) -> int:
    """Runs the recorded requests, so that the first user does not wait; returns their number.

    An unreadable file or a failing request is a `UserError`: such a version must not
    answer requests.
    """
    records = read_warmup_requests(self.folder)
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
  """Reads the graph of a SavedModel that is tagged "serve"."""
  path = folder / "saved_model.pb"
  try:
    saved = saved_model_pb2.SavedModel.FromString(path.read_bytes())
  except message.DecodeError:
    raise errors.UserError(f"{path} is damaged: it does not parse as a SavedModel") from None
  for meta_graph in saved.meta_graphs:
    if "serve" in meta_graph.meta_info_def.tags:
      return meta_graph
  raise errors.UserError(f'{path} has no graph tagged "serve"')


def captions_photographs(base_path: pathlib.Path) -> bool:
  """Whether the newest version of a model captions photographs."""
  numbered = [folder for folder in base_path.iterdir() if folder.name.isdigit()]
  if not numbered:
    return False
  newest = max(numbered, key=lambda folder: int(folder.name))
  return PHOTOGRAPH_SIGNATURE in read_meta_graph(newest).signature_def


def read_warmup_requests(folder: pathlib.Path) -> list[prediction_log_pb2.PredictionLog]:
  """Reads the recorded requests of a version; an empty list if it has no warm-up file."""
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
    raise errors.UserError(f"{path} has {len(records)} records; the limit is {MAX_WARMUP_RECORDS}")
  return records


def operations(meta_graph: meta_graph_pb2.MetaGraphDef) -> set[str]:
  """Returns the types of all operations in a graph and its function library."""
  graph = meta_graph.graph_def
  found = {node.op for node in graph.node}
  functions = {function.signature.name for function in graph.library.function}
  for function in graph.library.function:
    found |= {node.op for node in function.node_def}
  return found - functions


def _import_missing_ops(meta_graph: meta_graph_pb2.MetaGraphDef) -> None:
  """Imports tensorflow_text if the graph needs its operations."""
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
