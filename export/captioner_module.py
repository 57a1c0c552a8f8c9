"""A captioner as TensorFlow Serving takes it: regions in, words and their boxes out.

| signature                   | what it does                          |
|-----------------------------|---------------------------------------|
| `serving_default`, `greedy` | the likeliest word at every step      |
| `beam`                      | the likeliest of N captions           |

Inputs are those of `region_inputs`. Outputs, T = the longest caption allowed:

    caption    string [B]       the words joined by blanks
    words      string [B, T]    "" after the last
    box_index  int32 [B, T]     the region that each word looked at; -1 for none
    grounded   bool [B, T]      the word names a thing
    box        float32 [B, T, 4]  box of that region; several winning branches: their union
    attention  float32 [B, T, R]  mean over the branches that named the word
    log_prob   float32 [B]
    length     int32 [B]        words of the caption

A captioner of K > 1 branches (Distributed) also tells what each branch looked at, whose
boxes `box` encloses:

    branch_box_index  int32 [B, T, K]  -1 for a branch that named another word

An answer depends on its own row only: not on the rows that share a batch, not on
padding. Rows without regions and empty batches are answered.
"""

import dataclasses
from collections.abc import Sequence

import tensorflow as tf

from export import region_inputs, weights
from gcap_tf.captioners import base
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import decoder, grounding
from gcap_tf.evaluation import captioner_evaluation
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
)
BRANCH_OUTPUT = "branch_box_index"  # of captioners with several branches


def decodings(
  captioner: base.Captioner, beam_size: int = 3, max_length: int = 20
) -> dict[str, decode_config.DecodeConfig]:
  """How each signature decodes: as `trainers.caption` does."""
  usual = captioner_evaluation.usual_decoding(captioner)
  beam = decode_config.DecodeConfig("beam", max_length, unknown="suppress", beam_size=beam_size)
  return {"greedy": dataclasses.replace(usual, max_length=max_length), "beam": beam}


class CaptionerModule(tf.Module):
  """The exported graph of one captioner; `signatures` is what to save."""

  def __init__(
    self,
    captioner: base.Captioner,
    vocabulary: vocabularies.Vocabulary,
    is_thing: Sequence[bool],
    beam_size: int = 3,
    max_length: int = 20,
    float16: bool = False,
  ):
    """Traces nothing yet.

    Args:
      captioner: built, with its weights.
      vocabulary: the run's.
      is_thing: for every word of the vocabulary, whether it names a thing.
      beam_size: N of the `beam` signature.
      max_length: T.
      float16: store the weights in half precision.
    """
    super().__init__(name="captioner")
    # A module saves what it holds as an attribute: the Keras model is kept out of sight.
    self._captioner = lambda: captioner
    self.weights = weights.ExportedWeights(captioner, float16)
    self.reader = region_inputs.RegionReader(
      region_inputs.RegionInputs.of(captioner.config), vocabulary
    )
    self._branches = captioner.branches
    self._words, self._is_thing = list(vocabulary.words), list(is_thing)
    self._decode_configs = decodings(captioner, beam_size, max_length)

  def specs(self, signature: str) -> dict[str, tf.TensorSpec]:
    """Inputs of a signature: the same for all."""
    del signature
    return self.reader.inputs.specs()

  def signatures(self) -> dict[str, tf.types.experimental.ConcreteFunction]:
    """Name -> traced function, for `tf.saved_model.save`."""
    greedy = tf.function(self.greedy, autograph=False).get_concrete_function(**self.specs("greedy"))
    beam = tf.function(self.beam, autograph=False).get_concrete_function(**self.specs("beam"))
    return {"serving_default": greedy, "greedy": greedy, "beam": beam}

  def python_answer(self, signature: str, given: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """What a signature should answer, from the model in memory."""
    return self.beam(**given) if signature == "beam" else self.greedy(**given)

  def greedy(self, **given: tf.Tensor) -> dict[str, tf.Tensor]:
    return self._caption(given, self._decode_configs["greedy"])

  def beam(self, **given: tf.Tensor) -> dict[str, tf.Tensor]:
    return self._caption(given, self._decode_configs["beam"])

  def _caption(
    self, given: dict[str, tf.Tensor], config: decode_config.DecodeConfig
  ) -> dict[str, tf.Tensor]:
    rows, regions = self.reader.sizes(given)
    batch = self.reader.batch(given)
    captioner = self._captioner()
    with self.weights.scope():
      decoded = decoder.decode(captioner, captioner.encode(batch), config)
    decoded = {name: value[:rows] for name, value in decoded.items()}
    return self._answer(decoded, batch["region_mask"][:rows], regions, config.max_length)

  def _answer(
    self,
    decoded: dict[str, tf.Tensor],
    region_mask: tf.Tensor,
    regions: tf.Tensor,
    max_length: int,
  ) -> dict[str, tf.Tensor]:
    tokens = decoded["tokens"]  # [B, T]
    sees = tf.reduce_any(region_mask, 1)[:, tf.newaxis]  # [B, 1]
    words = tf.gather(tf.constant(self._words), tokens)
    joined = tf.strings.reduce_join(words, 1, separator=" ")
    names_thing = tf.gather(tf.constant(self._is_thing), tokens)
    attention = branch_mean(decoded["attention"], decoded["winners"])[..., :regions]
    answer = {
      "caption": tf.strings.strip(joined),
      "words": tf.ensure_shape(words, [None, max_length]),
      "box_index": tf.where(sees, decoded["box_index"], -1),
      "grounded": names_thing & sees & (tokens > 0),
      "box": tf.where(sees[..., tf.newaxis], decoded["box"], 0.0),
      "attention": tf.where(sees[..., tf.newaxis], attention, 0.0),
      "log_prob": decoded["log_prob"],
      "length": decoded["length"],
    }
    if self._branches > 1:
      picks = branch_picks(decoded["attention"], decoded["winners"])
      picks = tf.ensure_shape(picks, [None, max_length, self._branches])
      answer[BRANCH_OUTPUT] = tf.where(sees[..., tf.newaxis], picks, -1)
    return answer


def branch_picks(attention: tf.Tensor, winners: tf.Tensor) -> tf.Tensor:
  """The region of every winning branch: [B, T, K, R], bool [B, T, K] -> int32 [B, T, K]."""
  return tf.where(winners, grounding.strongest_region(attention), -1)


def branch_mean(attention: tf.Tensor, winners: tf.Tensor) -> tf.Tensor:
  """Mean attention of the winning branches: [B, T, K, R], bool [B, T, K] -> [B, T, R]."""
  share = tf.cast(winners, attention.dtype)  # [B, T, K]
  share /= tf.maximum(tf.reduce_sum(share, -1, keepdims=True), 1.0)
  return tf.einsum("btkr,btk->btr", attention, share)
