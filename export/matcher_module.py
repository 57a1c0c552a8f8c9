"""A matcher as TensorFlow Serving takes it: regions and captions as text in, scores out.

`score` and `serving_default`: regions and `captions` [B] -> `similarity` [B],
`attention` [B, T, R], `words` [B, T], `length` [B]
`embed`: regions -> `regions` [B, R, J]
`embed_captions`: `captions` [B] -> `words` [B, T, J], `length` [B]

A matcher that compares whole pictures with whole captions (VSE++) has no `attention`;
it embeds a picture as `image` [B, J] and a caption as `caption` [B, J].

Caption b is scored against picture b. Captions are tokenised in the graph by
tensorflow_text, whose operations a server must know (TensorFlow Serving and our
embedded server do). T is fixed: `max_words` and the two tokens that wrap them; longer
captions are cut. `words` names the token of every row of `attention`.
"""

from collections.abc import Sequence

import tensorflow as tf

from export import region_inputs, weights
from gcap_tf.matchers import base, scoring
from gcap_tf.text import graph_tokenizer
from gcap_tf.text import vocabulary as vocabularies

MAX_WORDS = 62
_END = 2  # of the matcher layout
CAPTIONS = tf.TensorSpec([None], tf.string, "captions")


class MatcherModule(tf.Module):
  """The exported graph of one matcher; `signatures` is what to save."""

  def __init__(
    self,
    matcher: base.Matcher,
    vocabulary: vocabularies.Vocabulary,
    is_noun: Sequence[bool],
    float16: bool = False,
    max_words: int = MAX_WORDS,
  ):
    """Traces nothing yet.

    Args:
      matcher: built, with its weights.
      vocabulary: the run's.
      is_noun: for every word of the vocabulary, whether it is a noun (POS-SCAN attends
        from nouns only).
      float16: store the weights in half precision.
      max_words: longest caption.
    """
    super().__init__(name="matcher")
    # A module saves what it holds as an attribute: the Keras model is kept out of sight.
    self._matcher = lambda: matcher
    self.weights = weights.ExportedWeights(matcher, float16)
    self.reader = region_inputs.RegionReader(
      region_inputs.RegionInputs.of(matcher.config), vocabulary
    )
    self.tokenizer = graph_tokenizer.GraphTokenizer(words=vocabulary)
    self._words, self._is_noun = list(vocabulary.words), list(is_noun)
    self._slots = max_words + 2

  def specs(self, signature: str) -> dict[str, tf.TensorSpec]:
    """Inputs of a signature."""
    regions = self.reader.inputs.specs()
    return {
      "serving_default": {**regions, "captions": CAPTIONS},
      "score": {**regions, "captions": CAPTIONS},
      "embed": regions,
      "embed_captions": {"captions": CAPTIONS},
    }[signature]

  def signatures(self) -> dict[str, tf.types.experimental.ConcreteFunction]:
    """Name -> traced function, for `tf.saved_model.save`."""
    traced = {
      name: tf.function(getattr(self, name), autograph=False).get_concrete_function(
        **self.specs(name)
      )
      for name in ("score", "embed", "embed_captions")
    }
    return {"serving_default": traced["score"], **traced}

  def python_answer(self, signature: str, given: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """What a signature should answer, from the model in memory."""
    method = "score" if signature == "serving_default" else signature
    return getattr(self, method)(**given)

  def score(self, captions: tf.Tensor, **given: tf.Tensor) -> dict[str, tf.Tensor]:
    rows, regions = self.reader.sizes(given)
    caption_batch = self._captions(tf.pad(captions, [[0, tf.maximum(1 - rows, 0)]]))
    with self.weights.scope():
      scores = scoring.score_pairs(self._matcher(), {**self.reader.batch(given), **caption_batch})
    answer = {"similarity": scores["similarity"][:rows], **self._named(caption_batch, rows)}
    if "attention" in scores:
      attention = scores["attention"][:rows, :, :regions]
      answer["attention"] = tf.ensure_shape(attention, [None, self._slots, None])
    return answer

  def embed(self, **given: tf.Tensor) -> dict[str, tf.Tensor]:
    rows, regions = self.reader.sizes(given)
    with self.weights.scope():
      images = self._matcher().encode_images(self.reader.batch(given))
    if not self._matcher().attends:
      return {"image": images["image"][:rows]}
    return {"regions": images["regions"][:rows, :regions]}

  def embed_captions(self, captions: tf.Tensor) -> dict[str, tf.Tensor]:
    rows = tf.shape(captions)[0]
    batch = self._captions(tf.pad(captions, [[0, tf.maximum(1 - rows, 0)]]))
    with self.weights.scope():
      encoded = self._matcher().encode_captions(batch)
    if not self._matcher().attends:
      return {"caption": encoded["caption"][:rows]}
    return {"words": encoded["words"][:rows], "length": self._named(batch, rows)["length"]}

  def _captions(self, captions: tf.Tensor) -> dict[str, tf.Tensor]:
    """Numbered, wrapped and cut to T tokens: [B] strings -> the batch's caption side."""
    batch = self.tokenizer(captions)
    tokens = batch["tokens"][:, : self._slots]
    tokens = tf.pad(tokens, [[0, 0], [0, self._slots - tf.shape(tokens)[1]]])
    tokens = tf.ensure_shape(tokens, [None, self._slots])
    last = tokens[:, -1:]  # a caption that was cut must still end
    tokens = tf.concat([tokens[:, :-1], tf.where(last > 0, _END, 0)], 1)
    return {
      "tokens": tokens,
      "token_mask": tokens > 0,
      "noun_mask": tf.gather(tf.constant(self._is_noun), tokens),
    }

  def _named(self, batch: dict[str, tf.Tensor], rows: tf.Tensor) -> dict[str, tf.Tensor]:
    tokens = batch["tokens"][:rows]
    return {
      "words": tf.where(tokens > 0, tf.gather(tf.constant(self._words), tokens), ""),
      "length": tf.reduce_sum(tf.cast(tokens > 0, tf.int32), 1),
    }
