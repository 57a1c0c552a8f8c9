"""The served form of a matcher: regions and captions as text in, scores out.

`score` and `serving_default`: regions and `captions` [B] -> `similarity` [B],
`attention` [B, T, R], `words` [B, T], `length` [B]
`embed`: regions -> `regions` [B, R, J]
`embed_captions`: `captions` [B] -> `words` [B, T, J], `length` [B]

A matcher that compares whole pictures with whole captions (VSE++) has no `attention`;
it embeds a picture as `image` [B, J] and a caption as `caption` [B, J].

Caption b is scored against picture b. The graph tokenises captions with the operations of
tensorflow_text; TensorFlow Serving and our embedded server know them. T is fixed at
`max_words` plus the start and end tokens; longer captions are cut. `words` lists the tokens
that belong to the rows of `attention`.
"""

from collections.abc import Sequence

import tensorflow as tf

from export import region_inputs, weights
from gcap_tf.matchers import base, scoring
from gcap_tf.text import graph_tokenizer
from gcap_tf.text import vocabulary as vocabularies

MAX_WORDS = 62
_END = 2  # id of the end token in a matcher's vocabulary
CAPTIONS = tf.TensorSpec([None], tf.string, "captions")


class MatcherModule(tf.Module):
  """The exported graph of one matcher; `signatures()` returns what to save."""

  loads_anywhere = False  # it has operations of tensorflow_text

  def __init__(
    self,
    matcher: base.Matcher,
    vocabulary: vocabularies.Vocabulary,
    is_noun: Sequence[bool],
    float16: bool = False,
    max_words: int = MAX_WORDS,
  ):
    """Keeps the parts; `signatures` traces them.

    Args:
      matcher: built, with its weights.
      vocabulary: the words of the run.
      is_noun: for every word of the vocabulary, whether it is a noun (POS-SCAN attends
        from nouns only).
      float16: whether to store the weights in half precision.
      max_words: most words of a caption.
    """
    super().__init__(name="matcher")
    # A tf.Module saves its attributes; the lambda hides the Keras model from it.
    self._matcher = lambda: matcher
    self.weights = weights.ExportedWeights(matcher, float16)
    self.reader = region_inputs.RegionReader(
      region_inputs.RegionInputs.of(matcher.config), vocabulary
    )
    self.tokenizer = graph_tokenizer.GraphTokenizer(words=vocabulary)
    self._words, self._is_noun = list(vocabulary.words), list(is_noun)
    self._slots = max_words + 2

  def specs(self, signature: str) -> dict[str, tf.TensorSpec]:
    """The inputs of a signature."""
    regions = self.reader.inputs.specs()
    return {
      "serving_default": {**regions, "captions": CAPTIONS},
      "score": {**regions, "captions": CAPTIONS},
      "embed": regions,
      "embed_captions": {"captions": CAPTIONS},
    }[signature]

  def signatures(self) -> dict[str, tf.types.experimental.ConcreteFunction]:
    """Returns name -> traced function, for `tf.saved_model.save`."""
    traced = {
      name: tf.function(getattr(self, name), autograph=False).get_concrete_function(
        **self.specs(name)
      )
      for name in ("score", "embed", "embed_captions")
    }
    return {"serving_default": traced["score"], **traced}

  def python_answer(self, signature: str, inputs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """Computes a signature with the model in memory, to compare with the saved one."""
    method = "score" if signature == "serving_default" else signature
    return getattr(self, method)(**inputs)

  def score(self, captions: tf.Tensor, **inputs: tf.Tensor) -> dict[str, tf.Tensor]:
    rows, regions = self.reader.sizes(inputs)
    caption_batch = self._captions(tf.pad(captions, [[0, tf.maximum(1 - rows, 0)]]))
    with self.weights.scope():
      scores = scoring.score_pairs(self._matcher(), {**self.reader.batch(inputs), **caption_batch})
    answer = {
      "similarity": scores["similarity"][:rows],
      **self._words_and_length(caption_batch, rows),
    }
    if "attention" in scores:
      attention = scores["attention"][:rows, :, :regions]
      answer["attention"] = tf.ensure_shape(attention, [None, self._slots, None])
    return answer

  def embed(self, **inputs: tf.Tensor) -> dict[str, tf.Tensor]:
    rows, regions = self.reader.sizes(inputs)
    with self.weights.scope():
      images = self._matcher().encode_images(self.reader.batch(inputs))
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
    return {
      "words": encoded["words"][:rows],
      "length": self._words_and_length(batch, rows)["length"],
    }

  def _captions(self, captions: tf.Tensor) -> dict[str, tf.Tensor]:
    """Tokenises [B] strings into the caption part of a batch, T tokens each."""
    batch = self.tokenizer(captions)
    tokens = batch["tokens"][:, : self._slots]
    tokens = tf.pad(tokens, [[0, 0], [0, self._slots - tf.shape(tokens)[1]]])
    tokens = tf.ensure_shape(tokens, [None, self._slots])
    last = tokens[:, -1:]  # a caption that was cut still needs its end token
    tokens = tf.concat([tokens[:, :-1], tf.where(last > 0, _END, 0)], 1)
    return {
      "tokens": tokens,
      "token_mask": tokens > 0,
      "noun_mask": tf.gather(tf.constant(self._is_noun), tokens),
    }

  def _words_and_length(self, batch: dict[str, tf.Tensor], rows: tf.Tensor) -> dict[str, tf.Tensor]:
    tokens = batch["tokens"][:rows]
    return {
      "words": tf.where(tokens > 0, tf.gather(tf.constant(self._words), tokens), ""),
      "length": tf.reduce_sum(tf.cast(tokens > 0, tf.int32), 1),
    }
