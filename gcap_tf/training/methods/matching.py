"""Training a matcher: ranking loss and the constraints on its attention.

    L = L_rank + lambda_CCR l_CCR + lambda_CCS l_CCS     (Chen et al., WACV 2023, Eq. 8)

With several replicas, each scores its captions against the pictures and captions of all.
Where a batch is computed in parts, each part is ranked by itself: its negatives are fewer.
"""

import dataclasses
import functools

import tensorflow as tf

from gcap_tf import errors
from gcap_tf.layers import dropout
from gcap_tf.losses import ccr, ccs, ranking
from gcap_tf.matchers import base
from gcap_tf.training import replicas, trainer

CONSTRAINT_SALT = 401


@dataclasses.dataclass(frozen=True)
class MatchingConfig:
  """What to learn.

  Attributes:
    margin: gamma_1 of the ranking loss.
    negatives: the hardest negative of the batch, or the sum over all.
    sum_epochs: first epochs trained with the sum over all negatives; hard negatives from
      the start can leave all scores equal (the loss then rests at 2 * batch * margin).
    exclude_same_image: captions of the same picture in a batch are not negatives.
      Departure: released programs let them be.
    ccr_weight, ccs_weight: lambda_CCR, lambda_CCS; 0 leaves the constraint out. The paper
      searches {0.1, 1}.
    ccr_margin, ccs_margin: gamma_2, gamma_3. The paper searches {0, 0.1, 0.2}.
    constrained_queries: one random query a pair (the paper), or all.
  """

  margin: float = 0.2
  negatives: ranking.Negatives = "hardest"
  sum_epochs: int = 0
  exclude_same_image: bool = False
  ccr_weight: float = 0.0
  ccs_weight: float = 0.0
  ccr_margin: float = 0.1
  ccs_margin: float = 0.1
  constrained_queries: ccr.Queries = "one"


class MatchingTrainer(trainer.Trainer):
  """Losses of a matcher; `evaluate` is left to who knows the validation data.

  Args:
    model: any matcher.
    config: what to learn.
  """

  best_metric = "rsum"

  def __init__(self, model: base.Matcher, config: MatchingConfig):
    if (config.ccr_weight or config.ccs_weight) and not model.attends:
      raise errors.UserError(
        "ccr_weight and ccs_weight constrain attention, which this matcher does not have; "
        "leave them at 0, or train another matcher"
      )
    self.model, self.config = model, config
    self.sums_negatives = tf.Variable(config.sum_epochs > 0, trainable=False)

  def begin_epoch(self, epoch: int) -> None:
    """Sets what depends on the epoch (0-based): which negatives count."""
    self.sums_negatives.assign(epoch < self.config.sum_epochs)

  def losses(self, batch: dict[str, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
    config, model = self.config, self.model
    images = model.encode_images(batch, seed)
    captions = model.encode_captions(batch, seed)
    own_picture = captions_to_images(batch)
    losses = {"ranking": self._ranking(batch, images, captions, own_picture)}
    if config.ccr_weight or config.ccs_weight:
      matched = model.fragments(base.take(images, own_picture), captions)
      for index, fragments in enumerate(matched):
        drawn = dropout.derive(seed, CONSTRAINT_SALT + index)
        how = (drawn, config.constrained_queries)
        for name, weight, loss, margin in (
          ("ccr", config.ccr_weight, ccr.loss, config.ccr_margin),
          ("ccs", config.ccs_weight, ccs.loss, config.ccs_margin),
        ):
          if weight:
            losses[name] = losses.get(name, 0.0) + weight * loss(fragments, margin, *how)
    return losses

  def _ranking(self, batch, images, captions, own_picture):
    """The ranking loss of this replica's captions among those of all replicas."""
    first_image = replicas.offset(batch["features"])
    first_caption = replicas.offset(batch["tokens"])
    count = tf.shape(batch["tokens"])[0]
    own = replicas.gather(own_picture + first_image)
    images, captions = _gather_all(images), _gather_all(captions)
    numbers = tf.range(tf.shape(own)[0])
    anchors = (numbers >= first_caption) & (numbers < first_caption + count)
    positives = None
    if self.config.exclude_same_image:
      names = replicas.gather(tf.strings.to_hash_bucket_fast(batch["image_id"], 2**31 - 1))
      positives = names[:, None] == tf.gather(names, own)[None]
    every = (images, captions, own, anchors, positives)
    if self.config.negatives == "sum":
      return self._dense("sum", *every)
    hardest = self._sparse
    if not self.model.pairs_are_independent:
      hardest = functools.partial(self._dense, "hardest")
    if not self.config.sum_epochs:
      return hardest(*every)
    return tf.cond(self.sums_negatives, lambda: self._dense("sum", *every), lambda: hardest(*every))

  def _dense(self, negatives, images, captions, own, anchors, positives):
    """Every score with its gradient."""
    similarity = self.model.similarity(images, captions, training=True)
    return ranking.triplet(similarity, own, self.config.margin, negatives, anchors, positives)

  def _sparse(self, images, captions, own, anchors, positives):
    """The hardest negatives, found without gradients and scored again with them."""
    similarity = tf.stop_gradient(
      self.model.similarity(
        *tf.nest.map_structure(tf.stop_gradient, (images, captions)), training=True
      )
    )
    if positives is None:
      positives = ranking.own_pairs(similarity, own)
    mine = tf.cast(tf.where(anchors)[:, 0], tf.int32)
    own, hard_captions, hard_images, some_caption, some_image = (
      tf.gather(of_captions, mine)
      for of_captions in (
        own,
        *ranking.hard_negatives(similarity, own, positives),
        *ranking.has_negatives(positives, own),
      )
    )
    scores = self.model.pair_similarity(
      images,
      captions,
      tf.concat([own, own, hard_images], 0),
      tf.concat([mine, hard_captions, mine], 0),
    )
    matched, with_caption, with_image = tf.split(scores, 3)
    margin = self.config.margin
    return ranking.hinge(matched, with_caption, margin, some_caption) + ranking.hinge(
      matched, with_image, margin, some_image
    )


def captions_to_images(batch: dict[str, tf.Tensor]) -> tf.Tensor:
  """The picture of each caption of a picture-major batch, int32 [B]."""
  images, captions = tf.shape(batch["features"])[0], tf.shape(batch["tokens"])[0]
  return tf.range(captions) // (captions // images)


def _gather_all(encoded: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
  return {name: replicas.gather(tensor) for name, tensor in sorted(encoded.items())}
