"""Which photographs the demo captions, and the answers of a captioner or of a server."""

import os
import pathlib
from collections.abc import Mapping, Sequence

from gcap_tf import api, picture_inputs
from serving import client, embedded, free_photographs, versions
from serving.wire import answers, picture_files

DATA = "GCAP_DATA"  # variable of the environment that names a folder of datasets


def find(more: int) -> dict[str, pathlib.Path]:
  """Returns title -> file: the free photographs, and `more` of those in GCAP_DATA."""
  found = free_photographs.find()
  for path in _in_data(os.environ.get(DATA, ""), more):
    found[f"Picture {path.stem}"] = path
  return found


def ask(
  captioner: api.Captioner, found: Mapping[str, pathlib.Path], batch: int = 8
) -> list[answers.GroundedCaption]:
  """Captions the photographs in this process; the answers are those of a server."""
  paths, answered = list(found.values()), []
  for start in range(0, len(paths), batch):
    given = [picture_inputs.read(path) for path in paths[start : start + batch]]
    outputs = captioner.arrays(given)
    answered += [answers.read(outputs, row, None) for row in range(len(given))]
  return answered


def ask_server(
  model: pathlib.Path, found: Mapping[str, pathlib.Path], batch: int = 8
) -> list[answers.GroundedCaption]:
  """Starts the embedded server on a free port and sends it the photographs over gRPC."""
  config = embedded.ServerConfig(models=(versions.ModelConfig("captioner", model),))
  paths, answered = list(found.values()), []
  with embedded.Server(config) as server:
    connection = client.Client(server.address, timeout=120.0)
    for start in range(0, len(paths), batch):
      answered += connection.caption_pictures(paths[start : start + batch])
    connection.close()
  return answered


def _in_data(folder: str, count: int) -> Sequence[pathlib.Path]:
  """Pictures from one end to the other of the first folder of pictures in a folder of datasets."""
  if not folder or count < 1 or not pathlib.Path(folder).is_dir():
    return ()
  for inside in sorted(path for path in pathlib.Path(folder).iterdir() if path.is_dir()):
    pictures = sorted(p for p in inside.iterdir() if p.suffix.lower() in picture_files.ENDINGS)
    if pictures:
      step = max(1, len(pictures) // count)
      return pictures[::step][:count]
  return ()
