"""The TensorFlow operations of a SavedModel, and those that not every TensorFlow has.

A program that loads a model without Python (TensorFlow Serving, Java, C++) has the core operations
of its own version. It cannot load a graph with others: those of tensorflow_text, or newer ones.
"""

import pathlib

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

# Core operations that TensorFlow 2.18 and TensorFlow's Java 1.1 lack.
_NEW = frozenset({"DecodeWebP"})
_CORE = frozenset(dir(tf.raw_ops))


def operations(folder: pathlib.Path) -> set[str]:
  """Names of all operations of a SavedModel, in its graph and in its functions."""
  model = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
  found, called = set(), set()
  for meta_graph in model.meta_graphs:
    library = meta_graph.graph_def.library.function
    called |= {function.signature.name for function in library}
    found |= {node.op for node in meta_graph.graph_def.node}
    found |= {node.op for function in library for node in function.node_def}
  return found - called


def not_portable(folder: pathlib.Path) -> list[str]:
  """Operations that a program without our Python packages may lack, sorted."""
  found = operations(folder)
  return sorted(name for name in found if name in _NEW or name not in _CORE)
