"""Refuses SavedModels whose graph reaches for files or for Python.

A graph computes with tensors; the models of this package need no more. Operations that read or
write files, or call Python, let a stranger's model do so on this machine, and are refused before
the graph is loaded. (The operations that restore variables are in every SavedModel, so this does
not make a stranger's model harmless: see docs/security.md.)
"""

import pathlib

from google.protobuf import message
from tensorflow.core.protobuf import saved_model_pb2

from gcap_tf import errors, files

REFUSED = frozenset(
  {
    *("ReadFile", "WriteFile", "MatchingFiles", "WholeFileReader", "WholeFileReaderV2"),
    *("PyFunc", "PyFuncStateless", "EagerPyFunc"),
    *("TextLineDataset", "TFRecordDataset", "TFRecordDatasetV2", "FixedLengthRecordDataset"),
    *("FixedLengthRecordDatasetV2", "SaveDataset", "SaveDatasetV2", "LoadDataset"),
    *("SqlDataset", "CSVDataset", "CSVDatasetV2", "DataServiceDataset", "DataServiceDatasetV4"),
    *("CreateSummaryFileWriter", "CreateSummaryDbWriter", "DebugIdentity", "DebugIdentityV2"),
    *("DebugIdentityV3", "DatasetToTFRecord", "SnapshotDataset", "SnapshotDatasetV2"),
  }
)


def check(folder: files.PathLike) -> None:
  """Raises a `UserError` if the SavedModel in a folder has an operation of REFUSED."""
  path = pathlib.Path(folder) / "saved_model.pb"
  try:
    model = saved_model_pb2.SavedModel.FromString(path.read_bytes())
  except FileNotFoundError:
    raise errors.UserError(f"{folder} is not a SavedModel: it has no saved_model.pb") from None
  except message.DecodeError:
    raise errors.UserError(f"{path} is damaged: it does not parse as a SavedModel") from None
  for meta_graph in model.meta_graphs:
    graph = meta_graph.graph_def
    nodes = [graph.node, *(function.node_def for function in graph.library.function)]
    for operation in sorted({node.op for group in nodes for node in group} & REFUSED):
      raise errors.UserError(
        f"{path}: its graph has the operation {operation}, which reaches for files or Python; "
        "such a model is not loaded"
      )
