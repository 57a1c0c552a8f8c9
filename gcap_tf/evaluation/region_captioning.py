"""Captions pictures straight from a region store, without preparing data."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from gcap_tf import errors, progress
from gcap_tf.data import records
from gcap_tf.data.stores import label_mapping, region_store
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
) -> Iterator[dict[str, Any]]:
  """One row a picture: `image_id, caption, words, box_index, boxes, log_prob`.

  `box_index` is the region that each word looked at, `boxes` its box in the store's own
  frame (pixels); both are null-free and as long as `words`. `boxes` is empty where the
  store has none. Where regions have labels, `labels` is what the store calls the region of
  each word.
  """
  decode = decoder.compiled(run.model, config)
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
  wanted = getattr(run.model.config, "global_size", 0)
  labelled = run.model.config.num_labels
  for image_id, regions in zip(ids, found, strict=True):
    depth = 0 if regions.features is None else regions.features.shape[1]
    if depth != size:
      raise errors.UserError(
        f"{store.path}, picture {image_id}: regions of {depth} features, {run.folder} was "
        f"trained on {size}"
      )
    given = size if regions.global_feature is None else len(regions.global_feature)
    if wanted not in (0, given):
      raise errors.UserError(
        f"{store.path}, picture {image_id}: {given} features of the whole picture (fc), "
        f"{run.folder} was trained on {wanted}"
      )
    if labelled and regions.count and not regions.labels:
      raise errors.UserError(
        f"{store.path}, picture {image_id}: regions without labels, and {run.folder} reads labels"
      )
  width = max(1, *(regions.count for regions in found))
  features = np.zeros([len(ids), width, size], np.float32)
  boxes = np.zeros([len(ids), width, 4], np.float32)
  region_mask = np.zeros([len(ids), width], bool)
  overall = np.zeros([len(ids), wanted or size], np.float32)
  frames = np.zeros([len(ids), 2], np.float32)
  for row, (image_id, regions) in enumerate(zip(ids, found, strict=True)):
    count = regions.count
    region_mask[row, :count] = True
    if size:
      features[row, :count] = regions.features
      given = regions.global_feature if wanted else None  # Else nothing reads it.
      mean = regions.features.mean(0) if count else overall[row]
      overall[row] = mean if given is None else given
    frames[row] = _frame(store, image_id, regions.boxes_px)
    if regions.boxes_px is not None:
      boxes[row, :count] = regions.boxes_px / np.tile(frames[row], 2)
  return {
    "features": tf.constant(features),
    "boxes": tf.constant(boxes),
    "region_mask": tf.constant(region_mask),
    "region_labels": tf.constant(_labels(run, found, width)),
    "frame": tf.zeros(region_mask.shape, tf.int32),
    "global_feature": tf.constant(overall),
    "image_size": tf.constant(frames),
    "image_id": tf.constant(list(ids)),
    "example_mask": tf.ones([len(ids)], tf.bool),
  }


def _frame(store, image_id, boxes_px) -> tuple[float, float]:
  """Width and height that boxes are scaled by: the picture's, or what the boxes span."""
  size = store.size(image_id)
  if all(size):
    return float(size[0]), float(size[1])
  if boxes_px is None or not len(boxes_px):
    return _EMPTY_PICTURE
  return tuple(np.maximum(boxes_px[:, 2:].max(0), 1.0))


def _labels(run, found, width) -> np.ndarray:
  mapping, ids = _mapping(run.vocabulary.labels), run.vocabulary.label_ids
  labels = np.zeros([len(found), width], np.int32)
  for row, regions in enumerate(found):
    labels[row, : len(regions.labels)] = mapping.ids(regions.labels, ids)
  return labels


@functools.lru_cache(maxsize=4)
def _mapping(labels: tuple[str, ...]) -> label_mapping.LabelMapping:
  return label_mapping.LabelMapping(labels)
