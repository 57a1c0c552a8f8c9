r"""What limits a captioner of photographs: the names of its regions, or what it says of them?

    python -m benchmarks.caption_limits --run=shipped --data=data/photos --split=val

Captions a split three times, greedily, and judges it as `trainers.evaluate_captioner` does:

    detected    as it is
    named       a region that shows an annotated box (IoU > 0.5) is named as the annotation names it
    shown       the same, and regions that show no annotated box are left out

What `named` gains is lost by the detector's names, what `shown` gains besides by regions that
nobody speaks of. The rest is proposals, captioner and words. The captioner is not trained again, so
a part of the gain stays hidden: it has learned to doubt names. Prints a table; the last line is one
JSON object.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf
from absl import flags

from gcap_tf import box_geometry, errors, printing
from gcap_tf.data.prepared import feature_layout, prepared_data
from gcap_tf.evaluation import captioner_report
from gcap_tf.runs import run_folders
from gcap_tf.text import object_words
from trainers import decode_flags

_RUN = flags.DEFINE_string("run", "shipped", "Run folder of a captioner.")
_DATA = flags.DEFINE_string("data", None, "Prepared folder.", required=True)
_SPLIT = flags.DEFINE_string("split", "val", "Which split.")
KEYS = (
  *("cider", "f1_all", "f1_loc", "f1_all_per_sentence", "f1_loc_per_sentence", "chair_i"),
  "vocabulary_used",
)
_OVERLAP = 0.5


@dataclasses.dataclass(frozen=True)
class Truth:
  """The annotated boxes of a picture: [n, 4] from 0 to 1, and the label column of each."""

  boxes: np.ndarray
  columns: np.ndarray


def truths(split: prepared_data.Split, labels: tuple[str, ...]) -> dict[str, Truth]:
  """The annotation of each picture, as far as it has labels."""
  classes, found = object_words.ObjectClasses(labels), {}
  for position in range(len(split)):
    record = split.record(position)
    known = [(each.box_px, classes.ids.get(each.label, 0)) for each in record.annotated]
    known = [(box, number - 1) for box, number in known if number]
    boxes = np.array([box for box, _ in known], np.float32).reshape(-1, 4)
    found[record.image_id] = Truth(
      box_geometry.normalise(boxes, record.width, record.height),
      np.array([column for _, column in known], np.int32),
    )
  return found


def renamed(probs: np.ndarray, boxes: np.ndarray, truth: Truth) -> tuple[np.ndarray, np.ndarray]:
  """Distributions of labels [R, L] after the annotation, and which regions [R] show a box."""
  if not len(truth.boxes):
    return probs, np.zeros(len(boxes), bool)
  overlap = box_geometry.iou(boxes, truth.boxes)
  shows = overlap.max(1) > _OVERLAP
  true = np.eye(probs.shape[1], dtype=probs.dtype)[truth.columns[overlap.argmax(1)]]
  return np.where(shows[:, np.newaxis], true, probs), shows


def change(
  layout: feature_layout.FeatureLayout,
  known: Mapping[str, Truth],
  others: bool,
  labels: Sequence[str] = (),
):
  """What the captioner sees in place of a batch.

  Args:
    layout: which columns of a feature hold the distribution of labels.
    known: the annotation of each picture.
    others: keeps regions that show nothing.
    labels: of the captioner, if it reads `region_labels`.
  """
  first, end = layout.label_columns
  ids = {label: number + 1 for number, label in enumerate(labels)}
  number_of = np.array([ids.get(label, 0) for label in layout.labels], np.int32)

  def changed(batch, seed):
    del seed
    features, mask = batch["features"].numpy().copy(), batch["region_mask"].numpy().copy()
    named = batch["region_labels"].numpy().copy()
    for row, image_id in enumerate(batch["image_id"].numpy()):
      if not batch["example_mask"][row]:
        continue
      roots = features[row, :, first:end]
      total = np.square(roots).sum(-1, keepdims=True)
      probs = np.square(roots) / np.maximum(total, 1e-9)
      probs, shows = renamed(probs, batch["boxes"][row].numpy(), known[image_id.decode()])
      features[row, :, first:end] = np.sqrt(probs * total)
      if labels:
        named[row] = np.where(shows, number_of[probs.argmax(-1)], named[row])
      if not others and (shows & mask[row]).any():
        mask[row] &= shows
    return {
      **batch,
      "features": tf.constant(features),
      "region_mask": tf.constant(mask),
      "region_labels": tf.constant(named),
    }

  return changed


def main(argv: list[str]) -> None:
  del argv
  run = run_folders.load(_RUN.value, "captioner")
  data = prepared_data.PreparedData(_DATA.value)
  split, layout = data.split(_SPLIT.value), feature_layout.of(data)
  if layout is None or not layout.labels:
    raise errors.UserError(
      f"the regions of {_DATA.value} have no distribution of labels; prepare it with "
      "--regions=pictures"
    )
  known = truths(split, layout.labels)
  cases = {
    "detected": None,
    "named": change(layout, known, True, run.vocabulary.labels),
    "shown": change(layout, known, False, run.vocabulary.labels),
  }
  found = {}
  for name, changed in cases.items():
    config = captioner_report.ReportConfig(
      decode=decode_flags.configuration(run),
      metrics=("cider",),
      given_sentences=False,
      rules=decode_flags.rules(run),
      change=changed,
    )
    values = captioner_report.evaluate(run, split, config).values
    found[name] = {key: values[key] for key in KEYS if key in values}
  print(f"{'':10}" + "".join(f"{key:>21}" for key in KEYS))
  for name, values in found.items():
    print(f"{name:10}" + "".join(f"{values.get(key, float('nan')):21.2f}" for key in KEYS))
  print(json.dumps({name: printing.rounded(values) for name, values in found.items()}))


if __name__ == "__main__":
  errors.run(main)
