"""Captions pictures directly from a region store, without prepared data."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from gcap_tf import batch as batches
from gcap_tf import errors, progress
from gcap_tf.data import records
from gcap_tf.data.stores import label_mapping, region_store
from gcap_tf.decoding import answers as answer_rules
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import decoder
from gcap_tf.evaluation import captioner_evaluation
from gcap_tf.runs import run_folders

_EMPTY_PICTURE = (1.0, 1.0)


def caption_store(
  run: run_folders.Run,
  store: region_store.RegionStore,
  config: decode_config.DecodeConfig,
  images: int = 64,
  rules: answer_rules.AnswerRules | None = None,
) -> Iterator[dict[str, Any]]:
  """One row per picture: `image_id, caption, words, box_index, boxes, log_prob`.

  With `rules`, also `answered` (false: nothing known is in the picture, and no words), `score`,
  and for every word `grounded` and `word_score`.

  `box_index` is the region that each word attends to, `boxes` its box in the store's own
  frame (pixels); both have one entry for each word. `boxes` is empty if the store has none.
  If regions have labels, `labels` is the store's label of each word's region.
  """
  decode = decoder.compiled(run.model, config, rules)
  ids = list(store.ids())
  starts = range(0, len(ids), images)
  for start in progress.bar(starts, label="captioning", unit="batch"):
    chosen = ids[start : start + images]
    found = [store.get(image_id) for image_id in chosen]
    batch = region_batch(run, store, chosen, found)
    answers = captioner_evaluation.caption_batch(decode, run.vocabulary, batch)
    for answer, regions in zip(answers, found, strict=True):
      yield _row(answer, regions)


def _row(answer: captioner_evaluation.Answer, regions: records.Regions) -> dict[str, Any]:
  has_boxes = regions.boxes_px is not None
  row = {
    "image_id": answer.image_id,
    "caption": answer.caption,
    "words": list(answer.words),
    "box_index": [int(index) for index in answer.box_index],
    "boxes": [[float(v) for v in box] for box in answer.boxes_px] if has_boxes else [],
    "log_prob": answer.log_prob,
  }
  if answer.grounded is not None:
    row |= {
      "answered": answer.answered,
      "score": round(answer.score, 4),
      "grounded": [bool(thing) for thing in answer.grounded],
      "word_score": [round(float(score), 4) for score in answer.word_scores],
    }
  if regions.labels:
    row["labels"] = [regions.labels[index] for index in row["box_index"]]
  return row


def region_batch(
  run: run_folders.Run,
  store: region_store.RegionStore,
  ids: Sequence[str],
  found: Sequence[records.Regions],
) -> dict[str, tf.Tensor]:
  """The regions `found` of some pictures of a store as a batch."""
  size = run.model.config.feature_size
  wanted = run.model.config.global_size
  default = size if run.model.config.global_is_mean else 0
  grid = getattr(run.model.config, "grid_size", 0)
  labelled = run.model.config.num_labels
  for image_id, regions in zip(ids, found, strict=True):
    depth = 0 if regions.features is None else regions.features.shape[1]
    if depth != size:
      raise errors.UserError(
        f"{store.path}, picture {image_id}: regions of {depth} features, {run.folder} was "
        f"trained on {size}"
      )
    given = default if regions.global_feature is None else len(regions.global_feature)
    if wanted not in (0, given):
      raise errors.UserError(
        f"{store.path}, picture {image_id}: {given or 'no'} features of the whole picture (fc), "
        f"{run.folder} was trained on {wanted}"
      )
    cell = 0 if regions.grid_features is None else regions.grid_features.shape[1]
    if grid not in (0, cell):
      raise errors.UserError(
        f"{store.path}, picture {image_id}: {cell or 'no'} features of a grid cell, {run.folder} "
        f"was trained on {grid}"
      )
    if labelled and regions.count and not regions.labels:
      raise errors.UserError(
        f"{store.path}, picture {image_id}: regions without labels, and {run.folder} reads labels"
      )
  rows = [
    _region_row(run, store, image_id, regions) for image_id, regions in zip(ids, found, strict=True)
  ]
  sizes = {"R": max(1, *(regions.count for regions in found)), "D": size, "G": wanted or size}
  optional = []
  if grid:
    optional = ["grid_features", "grid_mask"]
    sizes |= {"C": max(len(regions.grid_features) for regions in found), "M": grid}
  return batches.tensors(batches.build(rows, batches.names(["regions"], optional), sizes))


def _region_row(run, store, image_id, regions) -> dict[str, Any]:
  width, height = _frame(store, image_id, regions.boxes_px)
  row = {
    "image_id": image_id.encode(),
    "image_size": np.array([width, height], np.float32),
    "region_labels": _label_ids(run, regions.labels),
  }
  if run.model.config.feature_size:
    row["features"] = regions.features
    if run.model.config.global_size and regions.global_feature is not None:
      row["global_feature"] = regions.global_feature
  if regions.grid_features is not None:
    row["grid_features"] = regions.grid_features
    row["grid_mask"] = np.ones(len(regions.grid_features), bool)
  if regions.boxes_px is not None:
    row["boxes"] = regions.boxes_px / np.tile(row["image_size"], 2)
  return batches.region_row(regions.count, **row)


def _frame(store, image_id, boxes_px) -> tuple[float, float]:
  """Width and height that boxes are scaled by: the picture's, or what the boxes span."""
  size = store.size(image_id)
  if all(size):
    return float(size[0]), float(size[1])
  if boxes_px is None or not len(boxes_px):
    return _EMPTY_PICTURE
  return tuple(np.maximum(boxes_px[:, 2:].max(0), 1.0))


def _label_ids(run, labels) -> np.ndarray:
  ids = _mapping(run.vocabulary.labels).ids(labels, run.vocabulary.label_ids)
  return np.array(ids, np.int32)


@functools.lru_cache(maxsize=4)
def _mapping(labels: tuple[str, ...]) -> label_mapping.LabelMapping:
  return label_mapping.LabelMapping(labels)
