"""Runs a matcher over a split: encoded pictures and captions, and attention of words."""

import dataclasses
import functools
import math
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import tensorflow as tf

from gcap_tf import errors, progress
from gcap_tf.data.prepared import pipeline, prepared_data
from gcap_tf.matchers import base, blocks
from gcap_tf.metrics import attention as attention_metrics
from gcap_tf.text import vocabulary as vocabularies

Arrays = dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Encoded:
  """A split, encoded by a matcher.

  Attributes:
    images: encoded pictures, every array leads with I.
    captions: encoded captions, without padding.
    image_of_caption: [C] picture of each caption.
  """

  images: Arrays
  captions: blocks.CaptionStore
  image_of_caption: np.ndarray


def encode_split(
  matcher: base.Matcher,
  vocabulary: vocabularies.Vocabulary,
  split: prepared_data.Split,
  max_words: int = 0,
) -> Encoded:
  """Encodes every picture and every caption once."""
  config = _batch_config(matcher, split, max_words)
  check_regions(matcher, split)
  pieces: dict[str, list[np.ndarray]] = {}
  for arrays in _encode(matcher, vocabulary, split, config, "regions"):
    for name, array in arrays.items():
      pieces.setdefault(name, []).append(array)
  images = {name: np.concatenate(arrays) for name, arrays in pieces.items()}
  captions = blocks.CaptionStore()
  for arrays in _encode(matcher, vocabulary, split, config, "captions"):
    captions.add(arrays)
  return Encoded(images, captions, split.caption_pictures)


def score_attention(
  matcher: base.Matcher,
  vocabulary: vocabularies.Vocabulary,
  split: prepared_data.Split,
  max_words: int = 0,
  iou: float = attention_metrics.IOU,
) -> tuple[attention_metrics.AttentionScorer, attention_metrics.AttentionAccuracy]:
  """Feeds every caption's attention on its own picture to both scorers."""
  return score_rows(matched_attention(matcher, vocabulary, split, max_words), split, iou)


def score_rows(
  rows: Sequence[np.ndarray], split: prepared_data.Split, iou: float = attention_metrics.IOU
) -> tuple[attention_metrics.AttentionScorer, attention_metrics.AttentionAccuracy]:
  """Both scorers, fed with `matched_attention` of the split's first pictures.

  `iou` is T_IoU of precision, recall and F1.
  """
  scorer = attention_metrics.AttentionScorer(iou_threshold=iou)
  accuracy = attention_metrics.AttentionAccuracy()
  for position, start in enumerate(split.caption_starts):
    if start >= len(rows):
      break
    record = split.record(position)
    for number, caption in enumerate(record.captions):
      weights = rows[start + number][: len(caption.tokens), : record.regions.count]
      scorer.add(caption, weights, record.regions.boxes_px, weights.sum(-1) > 0, position)
      accuracy.add(caption, weights, record.regions.boxes_px, position)
  return scorer, accuracy


def matched_attention(
  matcher: base.Matcher,
  vocabulary: vocabularies.Vocabulary,
  split: prepared_data.Split,
  max_words: int = 0,
  pictures: int = 0,
) -> list[np.ndarray]:
  """Attention of every caption on its own picture, in order; [words, R] without wrappers.

  Args:
    matcher: the model.
    vocabulary: its words.
    split: pictures and captions.
    max_words: longer captions are cut; 0 cuts none.
    pictures: number of pictures whose captions are read, from the first on; 0 for all.
  """
  check_regions(matcher, split)
  attend = _compiled(matcher, "attend")
  config = dataclasses.replace(_batch_config(matcher, split, max_words), items="caption")
  batches = pipeline.evaluation_batches(split, vocabulary, config)
  rows: list[np.ndarray] = []
  captions = int(split.captions[: pictures or None].sum())
  batches = batches.take(math.ceil(captions / config.images))
  with pipeline.clear_errors():
    for batch in progress.bar(batches, label="attention", unit="batch"):
      weights = attend(batch).numpy()[:, 1:]  # Slot 0 is <start>.
      words = batch["token_mask"].numpy().sum(-1) - 2
      kept = batch["example_mask"].numpy()
      rows += [w[:n] for w, n in zip(weights[kept], words[kept], strict=True)]
  return rows[:captions]


def check_regions(matcher: base.Matcher, split: prepared_data.Split) -> None:
  """Raises a `UserError` if the matcher was not trained on regions like the data's."""
  expected, found = matcher.config.feature_size, split.data.feature_size
  if expected != found:
    raise errors.UserError(
      f"{split.folder} has regions of {found} features, the matcher was trained on {expected}; "
      "prepare the data with the regions of its training"
    )
  if matcher.reads_positions and not (split.data.has_boxes or split.data.has_position_blocks):
    raise errors.UserError(
      f"{split.folder} has regions without boxes, and the matcher reads where regions are"
    )


def warn_unless_five_captions(captions: np.ndarray, where: str) -> None:
  """Prints a message unless every picture has five captions, as in the papers.

  Args:
    captions: [I] captions of each picture.
    where: name of the data.
  """
  if (captions != 5).any():
    least, most = int(captions.min()), int(captions.max())
    count = str(least) if least == most else f"{least} to {most}"
    print(f"{where}: {count} captions per picture, not 5; recalls in papers are for 5")


def _batch_config(
  matcher: base.Matcher, split: prepared_data.Split, max_words: int
) -> pipeline.BatchConfig:
  return pipeline.BatchConfig(
    images=min(64, len(split)),
    max_words=max_words,
    shuffle=False,
    cache_bytes=0,
    **matcher.batch_options,
  )


def _encode(matcher, vocabulary, split, config, part) -> Iterator[Arrays]:
  encode = _compiled(matcher, part)
  batches = pipeline.evaluation_batches(split, vocabulary, config, parts=(part,))
  with pipeline.clear_errors():
    for batch in progress.bar(batches, label=f"encoding {part}", unit="batch"):
      kept = batch["example_mask"].numpy()
      yield {name: tensor.numpy()[kept] for name, tensor in encode(batch).items()}


@functools.lru_cache(maxsize=8)
def _compiled(matcher: base.Matcher, what: Literal["regions", "captions", "attend"]):
  """One graph per matcher, kept so that later validations need not trace."""

  def attend(batch):
    return matcher.attention(matcher.encode_images(batch), matcher.encode_captions(batch))

  function = {"regions": matcher.encode_images, "captions": matcher.encode_captions}
  return tf.function(function.get(what, attend), autograph=False, reduce_retracing=True)
