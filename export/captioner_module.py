"""The served form of a captioner: regions in, words and their boxes out.

| signature                   | what it does                          |
|-----------------------------|---------------------------------------|
| `serving_default`, `greedy` | the most likely word at every step    |
| `beam`                      | the most likely of N captions         |

The inputs are those of `region_inputs`. Outputs, with T words at most:

    caption    string [B]       the words joined by spaces
    words      string [B, T]    "" after the last word
    box_index  int32 [B, T]     the region that each word looked at; -1 for none
    grounded   bool [B, T]      the word names a thing
    box        float32 [B, T, 4]  box of that region; the union if several branches won
    attention  float32 [B, T, R]  mean over the branches that named the word
    log_prob   float32 [B]
    length     int32 [B]        number of words
    answered   bool [B]         false: nothing known is in the picture; no words, no boxes
    word_score float32 [B, T]   probability that the box is right; 0 for words that name no thing
    score      float32 [B]      expected share of the caption's things whose box is right

A captioner of K > 1 branches (Distributed) also returns the region of each branch; `box`
encloses their boxes:

    branch_box_index  int32 [B, T, K]  -1 for a branch that named another word

A captioner of videos also returns the box of each word in every one of F frames; `box` is that of
the region with the largest weight:

    box_frames  float32 [B, T, F, 4]  0 in slots without a word, and in frames without regions

A captioner of labelled regions also returns the labels that it does not know:

    unknown_labels  string [B, R]  "" for a region whose label it knows, or that has none

An answer depends on its own row only, not on other rows of the batch or on padding.
Rows without regions and empty batches are valid; a row without regions has no answer.
"""

import dataclasses
from collections.abc import Sequence

import keras
import tensorflow as tf

from export import region_inputs, weights
from gcap_tf.captioners import base
from gcap_tf.decoding import answers, confidence, decoder, grounding, user_rules
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import pointing as pointings
from gcap_tf.evaluation import captioner_evaluation
from gcap_tf.text import articles, word_classes
from gcap_tf.text import vocabulary as vocabularies

OUTPUTS = (
  "caption",
  "words",
  "box_index",
  "grounded",
  "box",
  "attention",
  "log_prob",
  "length",
  "answered",
  "word_score",
  "score",
)
BRANCH_OUTPUT = "branch_box_index"  # only captioners with several branches have it
FRAMES_OUTPUT = "box_frames"  # only captioners of videos have it
UNKNOWN_OUTPUT = "unknown_labels"  # only captioners of labelled regions have it


def decodings(
  captioner: base.Captioner,
  beam_size: int = 3,
  max_length: int = 20,
  vocabulary: vocabularies.Vocabulary | None = None,
  classes: word_classes.WordClasses | None = None,
) -> dict[str, decode_config.DecodeConfig]:
  """The decoding options of each signature, the same as in `trainers.caption`.

  Without `classes`, captions are decoded as released programs do (`--as_published`).
  """
  usual = captioner_evaluation.usual_decoding(captioner)
  beam = decode_config.DecodeConfig("beam", max_length, unknown="suppress", beam_size=beam_size)
  found = {"greedy": dataclasses.replace(usual, max_length=max_length), "beam": beam}
  if classes is None:
    return found
  rules = user_rules.UserRules()
  return {name: rules.apply(config, vocabulary, classes) for name, config in found.items()}


class CaptionerModule(tf.Module):
  """The exported graph of one captioner; `signatures()` returns what to save."""

  loads_anywhere = True  # core TensorFlow operations only

  def __init__(
    self,
    captioner: base.Captioner,
    vocabulary: vocabularies.Vocabulary,
    is_thing: Sequence[bool],
    beam_size: int = 3,
    max_length: int = 20,
    float16: bool = False,
    classes: word_classes.WordClasses | None = None,
    calibration: confidence.Calibration | None = None,
    pointing: pointings.Pointing | None = None,
    others: Sequence[keras.Model] = (),
  ):
    """Keeps the parts; `signatures` traces them.

    Args:
      captioner: built, with its weights.
      vocabulary: the words of the run.
      is_thing: for every word of the vocabulary, whether it names a thing.
      beam_size: N of the `beam` signature.
      max_length: T, the most words of a caption.
      float16: whether to store the weights in half precision.
      classes: nouns and verbs of the vocabulary, which captions do not repeat; None decodes
        as released programs do.
      calibration: of the run, if it has one.
      pointing: finds the boxes of words that name a label of a region; None takes the attention.
      others: models that the graph uses besides, such as a detector.
    """
    super().__init__(name="captioner")
    # A tf.Module saves its attributes; the lambda hides the Keras model from it.
    self._captioner = lambda: captioner
    self.weights = weights.ExportedWeights((captioner, *others), float16)
    self.reader = region_inputs.RegionReader(
      region_inputs.RegionInputs.of(captioner.config), vocabulary
    )
    self._branches, self._frames = captioner.branches, captioner.num_frames
    self._words = list(vocabulary.words)
    both, after_an = articles.ids(vocabulary) if classes else ((), ())
    self.rules = answers.AnswerRules(
      things=tuple(index for index, thing in enumerate(is_thing) if thing),
      labels_only=captioner.config.num_labels > 0 and captioner.config.feature_size == 0,
      calibration=calibration,
      articles=both,
      after_an=after_an,
      pointing=pointing,
    )
    self._decode_configs = decodings(captioner, beam_size, max_length, vocabulary, classes)

  def specs(self, signature: str) -> dict[str, tf.TensorSpec]:
    """The inputs of a signature; all signatures have the same."""
    del signature
    return self.reader.inputs.specs()

  def signatures(self) -> dict[str, tf.types.experimental.ConcreteFunction]:
    """Returns name -> traced function, for `tf.saved_model.save`."""
    greedy = tf.function(self.greedy, autograph=False).get_concrete_function(**self.specs("greedy"))
    beam = tf.function(self.beam, autograph=False).get_concrete_function(**self.specs("beam"))
    return {"serving_default": greedy, "greedy": greedy, "beam": beam}

  def python_answer(self, signature: str, inputs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """Computes a signature with the model in memory, to compare with the saved one."""
    return self.beam(**inputs) if signature == "beam" else self.greedy(**inputs)

  def greedy(self, **inputs: tf.Tensor) -> dict[str, tf.Tensor]:
    return self._caption(inputs, self._decode_configs["greedy"])

  def beam(self, **inputs: tf.Tensor) -> dict[str, tf.Tensor]:
    return self._caption(inputs, self._decode_configs["beam"])

  def _caption(
    self, inputs: dict[str, tf.Tensor], config: decode_config.DecodeConfig
  ) -> dict[str, tf.Tensor]:
    rows, regions = self.reader.sizes(inputs)
    batch = self.reader.batch(inputs)
    decoded = self._decode(batch, config)
    decoded = {name: value[:rows] for name, value in decoded.items()}
    answer = self._answer(decoded, batch["region_mask"][:rows], regions, config.max_length)
    if self.reader.inputs.labelled:
      answer[UNKNOWN_OUTPUT] = self.reader.unknown_labels(inputs)
    return answer

  def _decode(
    self, batch: dict[str, tf.Tensor], config: decode_config.DecodeConfig
  ) -> dict[str, tf.Tensor]:
    captioner = self._captioner()
    with self.weights.scope():
      decoded = decoder.decode(captioner, captioner.encode(batch), config)
    return answers.finish(decoded, batch, self.rules, len(self._words))

  def _answer(
    self,
    decoded: dict[str, tf.Tensor],
    region_mask: tf.Tensor,
    regions: tf.Tensor,
    max_length: int,
  ) -> dict[str, tf.Tensor]:
    tokens = decoded["tokens"]  # [B, T]
    has_regions = tf.reduce_any(region_mask, 1)[:, tf.newaxis]  # [B, 1]
    words = tf.gather(tf.constant(self._words), tokens)
    joined = tf.strings.reduce_join(words, 1, separator=" ")
    attention = grounding.branch_mean(decoded["attention"], decoded["winners"])[..., :regions]
    answer = {
      "caption": tf.strings.strip(joined),
      "words": tf.ensure_shape(words, [None, max_length]),
      "box_index": tf.where(has_regions, decoded["box_index"], -1),
      "grounded": decoded["grounded"],
      "box": tf.where(has_regions[..., tf.newaxis], decoded["box"], 0.0),
      "attention": tf.where(has_regions[..., tf.newaxis], attention, 0.0),
      "log_prob": decoded["log_prob"],
      "length": decoded["length"],
      "answered": decoded["answered"],
      "word_score": tf.ensure_shape(decoded["word_score"], [None, max_length]),
      "score": decoded["score"],
    }
    if self._frames > 1:
      boxes = tf.ensure_shape(decoded["box_frames"], [None, max_length, self._frames, 4])
      has = has_regions[..., tf.newaxis, tf.newaxis]
      answer[FRAMES_OUTPUT] = tf.where(has, boxes, 0.0)
    if self._branches > 1:
      picks = branch_picks(decoded["attention"], decoded["winners"])
      picks = tf.ensure_shape(picks, [None, max_length, self._branches])
      answer[BRANCH_OUTPUT] = tf.where(has_regions[..., tf.newaxis], picks, -1)
    return answer


def branch_picks(attention: tf.Tensor, winners: tf.Tensor) -> tf.Tensor:
  """The region of every winning branch: [B, T, K, R], bool [B, T, K] -> int32 [B, T, K]."""
  return tf.where(winners, grounding.strongest_region(attention), -1)
