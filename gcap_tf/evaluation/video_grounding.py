"""Grounding in videos: whether the words of sentences point at the right box in every frame.

The figures are those of ActivityNet-Entities' evaluator; submissions are its files.
"""

import io
import pathlib
from typing import Any, Literal

import numpy as np
from PIL import Image

from gcap_tf import errors, files, printing
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import captioner_evaluation, evaluator, picture_grounding
from gcap_tf.metrics import lemma_source
from gcap_tf.metrics.activitynet import anet_entities, anet_io, anet_report
from gcap_tf.runs import run_folders
from gcap_tf.text import object_words, word_lemmas
from gcap_tf.visuals import strips

MOST_STRIPS = 12


def report(
  subject: evaluator.CaptionerAnswers, path: files.PathLike, value: dict[str, Any]
) -> evaluator.Report:
  """Judges generated sentences and, if the configuration says so, the split's own.

  Args:
    subject: the captioner's answers.
    path: of the references.
    value: their JSON.
  """
  split, config = subject.split, subject.config
  references = anet_io.read_references(path, value)
  annotated = any(
    len(segment.frames) for segments in references.values() for segment in segments.values()
  )
  classes = classes_of(split.data)
  predictions = generated(subject.answers, split, classes)
  if config.grounding_path:
    anet_io.write_submission(config.grounding_path, predictions, "gen")
  if config.strips_path:
    draw_strips(config.strips_path, subject.answers, split, classes)
  given = None
  if config.given_sentences and len(split.words):
    given = given_sentences(subject.run, split, classes)
    if config.given_path:
      anet_io.write_submission(config.given_path, given, "GT")
  if not annotated:
    return evaluator.Report(f"grounding not computed: {path} has no boxes")
  lemmas = lemma_source.choose(None, value, by_tag=True)
  found = anet_report.generated_sentences(references, predictions, lemmas.lemma)
  text, values, statistics = found.text, dict(found.values), {}
  if config.statistics:
    statistics = picture_grounding.generated_segments(references, predictions, lemmas.lemma)
  if given is not None:
    judged = anet_report.given_sentences(references, given)
    text, values = f"{text}\n\n{judged.text}", values | judged.values
    if config.statistics:
      statistics["attention_accuracy"] = picture_grounding.given_segments(references, given)
    if subject.run.model.has_localizer:
      by = given_sentences(subject.run, split, classes, "localizer")
      accuracy = anet_entities.attention_accuracy(references, by).macro
      text = f"{text}\n\nattention accuracy of the localiser {100 * accuracy:.2f} %"
      values["localizer_accuracy"] = accuracy
      if config.statistics:
        statistics["localizer_accuracy"] = picture_grounding.given_segments(references, by)
  return evaluator.Report(text, printing.percent(values), statistics)


def draw_strips(
  folder: files.PathLike,
  answers: list[captioner_evaluation.Answer],
  split: prepared_data.Split,
  classes: object_words.ObjectClasses,
) -> None:
  """Draws the first segments whose records carry their frames: ID.png each."""
  folder = pathlib.Path(folder)
  folder.mkdir(parents=True, exist_ok=True)
  for position, answer in enumerate(answers[:MOST_STRIPS]):
    record = split.record(position)
    if not record.picture:
      raise errors.UserError(
        f"{split.folder}: the segments carry no frames to draw; drawn videos do"
      )
    with Image.open(io.BytesIO(record.picture)) as strip:
      frames = strips.cut(strip, record.frames)
    grounded = [classes.of(word) is not None for word in answer.words]
    boxes_01 = answer.frame_boxes_px / np.tile(answer.size, 2)
    picture = strips.grounded_strip(frames, answer.words, boxes_01, grounded)
    picture.save(folder / f"{answer.image_id}.png")


def classes_of(data: prepared_data.PreparedData) -> object_words.ObjectClasses:
  """The classes of the data, which words name by the lemma of their part of speech."""
  return object_words.ObjectClasses(data.object_classes, lemma=word_lemmas.lemma)


def generated(
  answers: list[captioner_evaluation.Answer],
  split: prepared_data.Split,
  classes: object_words.ObjectClasses,
) -> anet_io.Predictions:
  """The object words of every answer, in the form of the official evaluator."""
  predictions: anet_io.Predictions = {}
  for position, answer in enumerate(answers):
    segment = _segment(split.record(position))
    found = [classes.of(word) for word in answer.words]
    predictions.setdefault(segment.video, {})[segment.name] = anet_io.predicted_segment(
      found, answer.frame_boxes_px
    )
  return predictions


def given_sentences(
  run: run_folders.Run,
  split: prepared_data.Split,
  classes: object_words.ObjectClasses,
  by: Literal["decoder", "localizer"] = "decoder",
) -> anet_io.Predictions:
  """The boxes of the object words of the split's own sentences.

  Words are those annotated; in a sentence without annotation, those that name a class.
  """
  boxes = captioner_evaluation.given_boxes(run.model, run.vocabulary, split, by=by)
  predictions: anet_io.Predictions = {}
  for position in range(len(split)):
    record = split.record(position)
    segment = _segment(record)
    for caption in record.captions[:1]:  # The official files have one sentence a segment.
      known = {word.index: word.name for word in caption.objects}
      names = [known.get(n) for n in range(len(caption.tokens))]
      if not known:
        names = [classes.of(token) for token in caption.tokens]
      places = [segment.distributed_index(n) for n in range(len(names))]
      found = next(boxes)[: len(names)]
      predictions.setdefault(segment.video, {})[segment.name] = anet_io.predicted_segment(
        names, found, places
      )
    for _ in record.captions[1:]:
      next(boxes)
  return predictions


def _segment(record):
  if record.segment is None:
    raise errors.UserError(f"{record.image_id} is a picture, and the references are of videos")
  return record.segment
