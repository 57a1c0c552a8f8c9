"""What the page asks about a model that its signatures do not say: the labels that it knows."""

import functools
import pathlib
import re

from tensorflow_serving.apis import model_pb2

from gcap_tf.data.stores import label_mapping
from gcap_tf.text import vocabulary as vocabularies
from serving import status

LABELS_PATH = "/page/labels/"
VOCABULARY = pathlib.Path("assets.extra") / "vocabulary.json"
_LABELS = re.compile(rf"{LABELS_PATH}(?P<name>[^/:]+)/(?P<version>\d{{1,18}})\.json")


def labels_spec(path: str) -> model_pb2.ModelSpec:
  """Returns the version that `/page/labels/NAME/N.json` names."""
  match = _LABELS.fullmatch(path)
  if match is None:
    raise status.not_found(f"nothing is served at {path}")
  spec = model_pb2.ModelSpec(name=match["name"])
  spec.version.value = int(match["version"])
  return spec


@functools.lru_cache(maxsize=16)
def known_labels(folder: pathlib.Path) -> dict[str, str] | None:
  """Returns the names of things that an exported version has a label for -> that label.

  The served graph has the same table, and also reads a name in lower case and its last word
  alone. None if the version has no vocabulary.
  """
  if not (folder / VOCABULARY).exists():
    return None
  vocabulary = vocabularies.Vocabulary.load(folder / VOCABULARY)
  return label_mapping.LabelMapping(vocabulary.labels).known(vocabulary.words)
