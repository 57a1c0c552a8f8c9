"""Runs a captioner over a split: its captions, and the boxes that its words point at."""

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import tensorflow as tf

from gcap_tf import errors, progress
from gcap_tf.captioners import base
from gcap_tf.data.prepared import pipeline, prepared_data
from gcap_tf.decoding import answers as answer_rules
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import decoder, grounding, outputs
from gcap_tf.metrics import results_io
from gcap_tf.runs import run_folders
from gcap_tf.text import object_words
from gcap_tf.text import vocabulary as vocabularies

Decode = Callable[[base.Batch], dict[str, tf.Tensor]]
# (batch, seed) -> batch: takes regions away, or names them as another detector would.
Change = Callable[[base.Batch, tf.Tensor], base.Batch]


@dataclasses.dataclass(frozen=True)
class Answer:
  """The caption of a picture, and the region of each word.

  Attributes:
    image_id: id of the picture.
    words: words of the caption.
    box_index: [words] region of each word.
    boxes_01: [words, 4] box of each word, from 0 to 1.
    size: (width, height) of the picture in pixels.
    log_prob: log-probability of the whole caption.
    attention: [words, K, R].
    grounded: [words] whether each word names a thing; None if the decoder did not say.
    word_scores: [words] probability that each thing's box is right, 0 for other words; or None.
    score: expected share of the things whose box is right.
    answered: False if nothing known is in the picture; then there are no words.
    evidence: [words, E] what `word_scores` follow from, and [C] for `score`; or None.
    frame_boxes_01: [words, F, 4] box of each word in every frame of a video; None for a picture.
  """

  image_id: str
  words: tuple[str, ...]
  box_index: np.ndarray
  boxes_01: np.ndarray
  size: tuple[float, float]
  log_prob: float
  attention: np.ndarray
  grounded: np.ndarray | None = None
  word_scores: np.ndarray | None = None
  score: float = 0.0
  answered: bool = True
  evidence: tuple[np.ndarray, np.ndarray] | None = None
  frame_boxes_01: np.ndarray | None = None

  @property
  def caption(self) -> str:
    return " ".join(self.words)

  @property
  def boxes_px(self) -> np.ndarray:
    """[words, 4] boxes in pixels of the original picture."""
    return self.boxes_01.astype(np.float64) * np.array([*self.size, *self.size])

  @property
  def frame_boxes_px(self) -> np.ndarray:
    """[words, F, 4] boxes in every frame, in pixels; a picture is one frame."""
    found = self.boxes_01[:, None] if self.frame_boxes_01 is None else self.frame_boxes_01
    return found.astype(np.float64) * np.array([*self.size, *self.size])


def usual_decoding(captioner: base.Captioner) -> decode_config.DecodeConfig:
  """Greedy decoding as the captioner's released program does it."""
  return decode_config.DecodeConfig(unknown=captioner.unknown_words)


def max_length(run: run_folders.Run) -> int:
  """Words of a caption at most: the limit of an imported program, or 20."""
  return run.config.get("max_length", 20)


def caption_split(
  captioner: base.Captioner,
  vocabulary: vocabularies.Vocabulary,
  split: prepared_data.Split,
  config: decode_config.DecodeConfig,
  images: int = 64,
  rules: answer_rules.AnswerRules | None = None,
  change: Change | None = None,
) -> list[Answer]:
  """Captions every picture of a split, in order.

  Args:
    captioner: any.
    vocabulary: its words.
    split: the pictures.
    config: how captions are found.
    images: pictures of a batch.
    rules: adds scores, and answers nothing if nothing is known; None answers always.
    change: what the captioner sees instead of each batch.
  """
  check_regions(captioner, split)
  batch_config = pipeline.BatchConfig(images=min(images, len(split)), shuffle=False, cache_bytes=0)
  batches = pipeline.evaluation_batches(split, vocabulary, batch_config, parts=("regions",))
  decode = _compiled(captioner, config, rules)
  answers: list[Answer] = []
  with pipeline.clear_errors():
    for number, batch in enumerate(progress.bar(batches, label="captioning", unit="batch")):
      seen = batch if change is None else change(batch, tf.constant([number, 0]))
      answers += caption_batch(decode, vocabulary, seen)
  return answers


@functools.lru_cache(maxsize=4)
def _compiled(
  captioner: base.Captioner,
  config: decode_config.DecodeConfig,
  rules: answer_rules.AnswerRules | None,
) -> Decode:
  """One graph per captioner and method, kept so that later validations need not trace."""
  return decoder.compiled(captioner, config, rules)


def caption_batch(
  decode: Decode, vocabulary: vocabularies.Vocabulary, batch: base.Batch
) -> Iterator[Answer]:
  """Captions the pictures of one batch; rows that only pad it are left out."""
  decoded = {name: tensor.numpy() for name, tensor in decode(batch).items()}
  sizes, ids = batch["image_size"].numpy(), batch["image_id"].numpy()
  for row in np.flatnonzero(batch["example_mask"].numpy()):
    count = int(decoded["length"][row])
    yield Answer(
      image_id=ids[row].decode(),
      words=tuple(vocabulary.words[index] for index in decoded["tokens"][row][:count]),
      box_index=decoded["box_index"][row][:count],
      boxes_01=decoded["box"][row][:count],
      size=(float(sizes[row][0]), float(sizes[row][1])),
      log_prob=float(decoded["log_prob"][row]),
      attention=decoded["attention"][row][:count],
      frame_boxes_01=decoded["box_frames"][row][:count] if "box_frames" in decoded else None,
      **(_confidence(decoded, row, count) if "answered" in decoded else {}),
    )


def _confidence(decoded: dict[str, np.ndarray], row: int, count: int) -> dict[str, Any]:
  return {
    "grounded": decoded["grounded"][row][:count],
    "word_scores": decoded["word_score"][row][:count],
    "score": float(decoded["score"][row]),
    "answered": bool(decoded["answered"][row]),
    "evidence": (decoded["word_evidence"][row][:count], decoded["caption_evidence"][row]),
  }


def generated_predictions(
  answers: list[Answer], classes: object_words.ObjectClasses
) -> dict[str, list[results_io.PredictedCaption]]:
  """The object words of every answer, in the form of the grounding evaluator."""
  return {
    answer.image_id: [
      results_io.predicted_caption([classes.of(word) for word in answer.words], answer.boxes_px)
    ]
    for answer in answers
  }


def given_predictions(
  captioner: base.Captioner,
  vocabulary: vocabularies.Vocabulary,
  split: prepared_data.Split,
  images: int = 64,
  by: Literal["decoder", "localizer"] = "decoder",
) -> dict[str, list[results_io.PredictedCaption]]:
  """The boxes of the annotated words of the split's own captions; see `given_boxes`."""
  boxes = given_boxes(captioner, vocabulary, split, images, by)
  predictions: dict[str, list[results_io.PredictedCaption]] = {}
  for position in range(len(split)):
    record = split.record(position)
    predictions[record.image_id] = [
      _annotated_words(caption, next(boxes)[:, 0]) for caption in record.captions
    ]
  return predictions


def given_boxes(
  captioner: base.Captioner,
  vocabulary: vocabularies.Vocabulary,
  split: prepared_data.Split,
  images: int = 64,
  by: Literal["decoder", "localizer"] = "decoder",
) -> Iterator[np.ndarray]:
  """The boxes of all words of the split's own captions, by teacher forcing: [T, F, 4] pixels each.

  The box encloses the picks of the branches that would have emitted the word, or is the first
  branch's pick if none would. The localiser of cyclical training points at the region of the
  given word itself. A picture has F = 1 frame.
  """
  check_regions(captioner, split)

  @tf.function(autograph=False, reduce_retracing=True)
  def look(batch):
    memory, tokens = captioner.encode(batch), batch["tokens"]
    if by == "decoder":
      seen = captioner.teacher_force(memory, tokens)
    else:
      needs = captioner.reconstruction_needs
      read = captioner.teacher_force(memory, tokens, extras=needs) if needs else {}
      given = {name: read[name] for name in needs}
      seen = captioner.reconstruct(memory, tokens, tokens, **given)
    found = seen["attention"], seen["winners"], batch["boxes"]
    frames = outputs.frames_of(captioner, memory)
    if frames is None:
      return grounding.word_boxes(*found)[1][:, :, tf.newaxis]
    return frames.boxes(*found)

  batch_config = pipeline.BatchConfig(
    images=min(images, len(split)), items="caption", max_words=0, shuffle=False, cache_bytes=0
  )
  batches = pipeline.evaluation_batches(split, vocabulary, batch_config)
  with pipeline.clear_errors():
    for batch in progress.bar(batches, label="given sentences", unit="batch"):
      kept = batch["example_mask"].numpy()
      scale = np.tile(batch["image_size"].numpy(), 2)[:, np.newaxis, np.newaxis]  # [B, 1, 1, 4]
      yield from (look(batch).numpy() * scale)[kept]


def _annotated_words(caption, boxes_px: np.ndarray) -> results_io.PredictedCaption:
  classes: list[str | None] = [None] * len(caption.tokens)
  for word in caption.objects:
    classes[word.index] = word.name
  return results_io.predicted_caption(classes, boxes_px[: len(classes)])


def check_regions(captioner: base.Captioner, split: prepared_data.Split) -> None:
  """Raises a `UserError` if the captioner was not trained on regions like the data's."""
  expected, found = captioner.config.feature_size, split.data.feature_size
  if expected != found:
    raise errors.UserError(
      f"{split.folder} has regions of {found} features, the captioner was trained on {expected}; "
      "prepare the data with the regions of its training"
    )
  for name, what in (("global_size", "the whole picture"), ("grid_size", "a grid cell")):
    expected, found = getattr(captioner.config, name, 0), getattr(split.data, name)
    if name == "global_size" and split.data.frames > 1:
      found = split.data.batch_global_size
    if name == "global_size" and captioner.config.global_is_mean:
      found = found or split.data.feature_size  # Batches take the mean of the regions.
    if expected and expected != found:
      raise errors.UserError(
        f"{split.folder} has {found or 'no'} features of {what}, the captioner was trained on "
        f"{expected}; prepare the data with the regions of its training"
      )
  frames = split.data.frames
  if frames != captioner.num_frames and 1 not in (frames, captioner.num_frames):
    raise errors.UserError(
      f"{split.folder} has videos of {frames} frames, the captioner was trained on "
      f"{captioner.num_frames}; prepare the data with as many"
    )
  if captioner.config.num_labels and not split.data.has_labels:
    raise errors.UserError(
      f"{split.folder} has regions without labels, and the captioner was trained on labels"
    )
