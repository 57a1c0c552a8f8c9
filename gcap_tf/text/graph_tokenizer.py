"""The tokenizer in a TensorFlow graph, so that a SavedModel can take captions as text.

The rules are those of `tokenizer`, run by RE2 in place of Python's `re`. A SavedModel
that holds a `GraphTokenizer` needs `import tensorflow_text` before it is loaded.
"""

import tensorflow as tf

from gcap_tf import optional
from gcap_tf.text import tokenizer, vocabulary


class GraphTokenizer(tf.Module):
  """Splits captions into words and, given a vocabulary, numbers them.

  Bytes that are not UTF-8 become U+FFFD, as `bytes.decode(errors="replace")` does.
  """

  def __init__(
    self,
    style: tokenizer.Style = "caption",
    words: vocabulary.Vocabulary | None = None,
    name: str = "graph_tokenizer",
  ):
    super().__init__(name=name)
    self.style = style
    self.rules = tokenizer.rules(style)
    self.vocabulary = words
    tf_text = optional.require("tensorflow_text", "train")
    self._splitter = tf_text.WhitespaceTokenizer()
    if words is not None:
      self._table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(
          tf.constant(words.words, tf.string), tf.range(words.size, dtype=tf.int32)
        ),
        default_value=words.unknown_id,
      )

  @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.string)])
  def tokenize(self, captions: tf.Tensor) -> tf.RaggedTensor:
    """[B] strings -> the words, ragged [B, (T)]."""
    text = tf.strings.unicode_transcode(captions, "UTF-8", "UTF-8", errors="replace")
    text = tf.strings.regex_replace(text, r"\x00", " ")  # lower() would stop at a NUL
    text = tf.strings.lower(text, encoding="utf-8")
    text = tf.strings.join([tokenizer.BLANK, text, tokenizer.BLANK])
    for pattern, replacement in self.rules:
      text = tf.strings.regex_replace(text, pattern, replacement)
    return self._splitter.tokenize(text)

  @tf.function(autograph=False, input_signature=[tf.TensorSpec([None], tf.string)])
  def __call__(self, captions: tf.Tensor) -> dict[str, tf.Tensor]:
    """[B] strings -> `tokens` [B, T] int32, `token_mask` [B, T] bool, in the vocabulary's layout.

    The matcher layout is `<start> w1..wn <end> <pad>..`; the captioner layout is
    `w1..wn 0 0..`, whose mask takes in the first 0. T fits the longest caption.
    """
    if self.vocabulary is None:
      raise ValueError("GraphTokenizer needs a vocabulary to give ids; tokenize() gives words")
    ids = self._table.lookup(self.tokenize(captions))  # ragged [B, (T)]
    count = tf.shape(captions)[0]
    end = tf.zeros([count, 1], tf.int32)
    if self.vocabulary.layout == "matcher":
      ids = tf.concat([end + 1, ids, end + 2], axis=1)
    else:
      ids = tf.concat([ids, end], axis=1)
    return {"tokens": ids.to_tensor(0), "token_mask": tf.sequence_mask(ids.row_lengths())}
