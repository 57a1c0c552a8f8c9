"""A detector's labels as a teacher of attention, for the words that it knows.

    α_{t,i} ∝ (p_i(c_t) o_i)^power        c_t: the label that word t names, o: objectness

A matcher often cannot say which of several regions a noun means; a detector that was trained on
boxes can, for its own labels. So these words are taught by the labels of regions, and all others
by the matcher. The labels are a kind of supervision: this detector has seen which word names a box
(of any picture), while the captioner never sees which word of a caption belongs to which box.

Not from a paper; the cyclical paper's "grounding-biased detector" brings the same labels.
"""

import tensorflow as tf

from gcap_tf import errors
from gcap_tf.data.prepared import feature_layout, prepared_data
from gcap_tf.text import object_words
from gcap_tf.text import vocabulary as vocabularies


class LabelTeacher:
  """Replaces the attention of words that name a label.

  Args:
    layout: which columns of a feature hold the labels.
    vocabulary: the captioner's words.
    power: above 0; the larger, the more the best region gets.
  """

  def __init__(
    self,
    layout: feature_layout.FeatureLayout,
    vocabulary: vocabularies.Vocabulary,
    power: float,
  ):
    self._columns, self._power = layout.label_columns, power
    self._labels = tf.constant(
      object_words.columns_named(vocabulary.ids, layout.labels, vocabulary.unknown_id)
    )

  def __call__(
    self, batch: dict[str, tf.Tensor], tokens: tf.Tensor, teacher: tf.Tensor
  ) -> tf.Tensor:
    """The teacher's attention [B, T, R] with that of named words replaced.

    A word keeps its attention if no region of its picture has its label, and stays untaught if
    the teacher says nothing of it.

    Args:
      batch: has `features` [I, R, D] and `region_scores` [I, R].
      tokens: [B, T], B = I * n, picture-major.
      teacher: [B, T, R].
    """
    first, end = self._columns
    evidence = tf.square(batch["features"][..., first:end])  # p, but for a constant
    evidence = (evidence * batch["region_scores"][..., tf.newaxis]) ** self._power  # [I, R, L]
    pictures, regions, _ = tf.unstack(tf.shape(evidence))
    labels = tf.gather(self._labels, tokens)  # [B, T]
    of_pictures = tf.reshape(tf.maximum(labels, 0), [pictures, -1])
    alpha = tf.gather(tf.transpose(evidence, [0, 2, 1]), of_pictures, batch_dims=1)
    alpha = tf.reshape(alpha, [*tf.unstack(tf.shape(tokens)), regions])
    total = tf.reduce_sum(alpha, -1, keepdims=True)
    taught = tf.reduce_sum(teacher, -1, keepdims=True) > 0.0
    named = (labels >= 0)[..., tf.newaxis] & (total > 0.0) & taught
    return tf.stop_gradient(tf.where(named, tf.math.divide_no_nan(alpha, total), teacher))


def create(
  data: prepared_data.PreparedData, vocabulary: vocabularies.Vocabulary, power: float
) -> LabelTeacher | None:
  """The label teacher of data; None if the power is 0."""
  if not power:
    return None
  layout = feature_layout.of(data)
  if layout is None or not layout.labels or not data.has_scores:
    raise errors.UserError(
      f"distill_labels={power:g}: the regions of {data.folder} have no distribution of labels; "
      "prepare it with --regions=pictures"
    )
  return LabelTeacher(layout, vocabulary, power)
