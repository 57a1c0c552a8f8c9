"""From decoded words to an answer: which words are grounded, how sure it is, or that there is none.

A picture without any known thing gets no answer, since its caption would be invented:

    a captioner of labels    no region has a label that it knows
    a captioner of features  there is no region, or `score` is below the calibrated threshold

Then `answered` is False, there are no words, and `score` is 0; `log_prob` is that of the caption
that was withheld.
"""

import dataclasses

import tensorflow as tf

from gcap_tf.captioners import base
from gcap_tf.decoding import confidence, grounding, outputs, repeats
from gcap_tf.decoding import pointing as pointings


@dataclasses.dataclass(frozen=True)
class AnswerRules:
  """What an answer needs besides the captioner.

  Attributes:
    things: ids of the words that name a thing.
    labels_only: whether the captioner reads labels and no features.
    calibration: of the run, or None.
    articles: ids of "a" and "an", of which the right one is put before each word; or ().
    after_an: ids of the words that "an" stands before.
    pointing: finds the boxes of words that name a label; None takes the strongest attention.
  """

  things: tuple[int, ...] = ()
  labels_only: bool = False
  calibration: confidence.Calibration | None = None
  articles: tuple[int, ...] = ()
  after_an: tuple[int, ...] = ()
  pointing: pointings.Pointing | None = None


def finish(
  decoded: outputs.Decoded, batch: base.Batch, rules: AnswerRules, size: int
) -> outputs.Decoded:
  """Adds to the output of a decoder, and removes the words of pictures without an answer.

  Args:
    decoded: output of a decoder, one caption per picture.
    batch: the pictures.
    rules: see there.
    size: V.

  Returns:
    The fields of `decoded`; `grounded` bool [B, T]; `word_score` [B, T]; `score` [B]; `answered`
    bool [B]; `word_evidence` [B, T, E] and `caption_evidence` [B, C], for calibration.
  """
  tokens, region_mask = decoded["tokens"], batch["region_mask"]
  has_regions = tf.reduce_any(region_mask, 1)
  grounded = tf.gather(repeats.is_one_of(rules.things, size), tokens) & (tokens > 0)
  grounded &= has_regions[:, tf.newaxis]
  decoded, pointed = _point(decoded, batch, rules.pointing)
  evidence = confidence.word_evidence(
    pointed,
    decoded["box_index"],
    decoded["token_log_prob"],
    batch["boxes"],
    batch["region_labels"],
    region_mask,
  )
  calibration = rules.calibration
  word_score = confidence.word_scores(calibration, evidence, grounded)
  of_caption = confidence.caption_evidence(
    word_score, grounded, decoded["token_log_prob"], decoded["length"]
  )
  score = confidence.caption_score(calibration, of_caption)
  answered = (decoded["length"] > 0) & _knows_something(rules, batch, score)
  said = answered[:, tf.newaxis]
  in_frames = {
    name: tf.where(said[..., tf.newaxis, tf.newaxis], decoded[name], 0.0)
    for name in ("box_frames",)
    if name in decoded
  }
  return {
    **decoded,
    **in_frames,
    "tokens": tf.where(said, _with_articles(tokens, rules, size), 0),
    "length": tf.where(answered, decoded["length"], 0),
    "attention": tf.where(said[..., tf.newaxis, tf.newaxis], decoded["attention"], 0.0),
    "winners": decoded["winners"] & said[..., tf.newaxis],
    "box_index": tf.where(said, decoded["box_index"], -1),
    "box": tf.where(said[..., tf.newaxis], decoded["box"], 0.0),
    "grounded": grounded & said,
    "word_score": tf.where(said, word_score, 0.0),
    "score": tf.where(answered, score, 0.0),
    "answered": answered,
    "word_evidence": evidence,
    "caption_evidence": of_caption,
  }


def _point(
  decoded: outputs.Decoded, batch: base.Batch, rules: pointings.Pointing | None
) -> tuple[outputs.Decoded, tf.Tensor]:
  """`decoded` with the boxes that its words point at, and how strongly at each [B, T, R]."""
  attention = grounding.branch_mean(decoded["attention"], decoded["winners"])
  if rules is None:
    return decoded, attention
  tokens = decoded["tokens"]
  pointed = pointings.evidence(rules, batch, tokens, attention)
  box_index, box = pointings.boxes(rules, tokens, pointed, batch["boxes"])
  is_word = tokens > 0
  boxes = {
    "box_index": tf.where(is_word, box_index, -1),
    "box": tf.where(is_word[..., tf.newaxis], box, 0.0),
  }
  return decoded | boxes, pointed


def _with_articles(tokens: tf.Tensor, rules: AnswerRules, size: int) -> tf.Tensor:
  """Captions [B, T] with "an" before vowels and "a" before other sounds."""
  if not rules.articles:
    return tokens
  a, an = rules.articles
  following = tf.pad(tokens[:, 1:], [[0, 0], [0, 1]])
  right = tf.where(tf.gather(repeats.is_one_of(rules.after_an, size), following), an, a)
  is_article = ((tokens == a) | (tokens == an)) & (following > 0)
  return tf.where(is_article, right, tokens)


def _knows_something(rules: AnswerRules, batch: base.Batch, score: tf.Tensor) -> tf.Tensor:
  region_mask = batch["region_mask"]
  if rules.labels_only:
    return tf.reduce_any(region_mask & (batch["region_labels"] > 0), 1)
  has_regions = tf.reduce_any(region_mask, 1)
  threshold = rules.calibration.answer_threshold if rules.calibration else 0.0
  return has_regions & (score >= threshold) if threshold else has_regions
