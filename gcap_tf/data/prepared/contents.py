"""What a prepared folder holds, apart from the machine that made it.

`fingerprint` is a hash of

    the dataset's name, and its splits: ids, captions, object words and boxes, in order
    the classes of object words
    how the regions were made: their source and its options, the parts of a feature, the labels

and of the detector's weights, unless folds cross-fitted the train pictures: detectors that are
trained again on another machine differ a little, so that of folds their number counts, and the name
of the detector. Folders do not count, nor do the numbers in features: the same command with
the same detector gives the same fingerprint, however another machine rounds.
"""

import json
import pathlib
from collections.abc import Mapping
from typing import Any

from gcap_tf import fingerprints
from gcap_tf.data.prepared import prepared_data

_KIND = ("feature_size", "global_size", "grid_size", "frames")


def fingerprint(data: prepared_data.PreparedData) -> str:
  """16 hexadecimal digits; equal for equal contents."""
  files = data.info["files"]
  values = {
    "dataset": data.name,
    "splits": {
      split: [files[f"{kind}_{split}.json"]["sha256"] for kind in ("captions", "references")]
      for split in data.splits
    },
    "object_classes": data.object_classes,
    "kind": {name: getattr(data, name) for name in _KIND},
    "regions": _regions(data.info.get("detector") or {}),
  }
  return fingerprints.of(json.dumps(values, sort_keys=True))


def _regions(made_by: Mapping[str, Any]) -> dict[str, Any]:
  """How regions were made, without folders."""
  found = {key: value for key, value in made_by.items() if key not in ("path", "detector")}
  if "path" in made_by:
    found["path"] = pathlib.Path(made_by["path"]).name
  if "detector" in made_by:
    name, folds = detector(made_by)
    found |= {"detector": name if folds or ":" in name else "", "folds": folds}
    if folds:
      found.pop("fingerprint", None)
  return found


def detector(made_by: Mapping[str, Any]) -> tuple[str, int]:
  """The detector of photographs without its folder ("shipped", "tflite:FILE"), and its folds."""
  first, *folds = made_by["detector"].split(",")
  kind, colon, where = first.rpartition(":")
  return kind + colon + pathlib.Path(where).name, len(folds)


def describe_regions(data: prepared_data.PreparedData) -> str:
  """The regions in a few words: "pictures regions of shipped, 4 folds"."""
  made_by = data.info.get("detector") or {}
  text = f"{made_by.get('name', 'given')} regions"
  if "detector" not in made_by:
    return text
  name, folds = detector(made_by)
  return f"{text} of {name}" + (f", {folds} folds" if folds else "")
