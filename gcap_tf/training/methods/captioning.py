"""Training a captioner on captions: any captioner, any regulariser of its attention.

Every term has a weight; a term of weight 0 is not computed.

    cross_entropy     the caption, word by word, from every branch
    distillation      attention towards a matcher's (needs `teacher_attention` in the batch)
    boxes             attention towards annotated regions
    reconstruction    the caption again, from what its words point at (needs a localiser)
    consistency       attention towards the localiser's
    attention, grounding, classification    GVD's supervised losses
"""

import dataclasses
from typing import Literal

import tensorflow as tf

from gcap_tf import errors
from gcap_tf.captioners import base
from gcap_tf.losses import boxes, cross_entropy, distillation, gvd, reconstruction
from gcap_tf.text import lemmas
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import replicas, trainer


@dataclasses.dataclass(frozen=True)
class SamplingConfig:
  """Scheduled sampling: the chance grows by `increase` every `every` epochs after `start`.

  Attributes:
    start: epoch from which epochs are counted; -1 never samples.
    every: epochs between two increases.
    increase: of the chance.
    most: the chance never exceeds it.
  """

  start: int = -1
  every: int = 5
  increase: float = 0.05
  most: float = 0.25

  def chance(self, epoch: int) -> float:
    if self.start < 0 or epoch <= self.start:
      return 0.0
    return min(self.increase * ((epoch - self.start) // self.every), self.most)


@dataclasses.dataclass(frozen=True)
class CaptioningConfig:
  """Weights and kinds of the losses.

  Attributes:
    cross_entropy_weight: Cyclical's λ1 (0.5, for its baseline too); 1 otherwise.
    label_smoothing: ε.
    branch_reduction: over the losses of K branches.
    sampling: scheduled sampling.
    distill_weight, distill_loss: POS-SCAN's λ1 and the direction: "kl" is KL(α || β).
    distill_area: power of a region's area that weighs the teacher's attention; ours.
    box_supervision, box_weight: what annotated boxes teach the attention.
    reconstruction_weight: Cyclical's λ2.
    reconstruction_words: "nouns" counts L_r there only ("zero loss").
    localized_words: "nouns" lets only those point ("zero representation").
    consistency_weight: of the attention-consistency variant.
    attention_weight, grounding_weight, classification_weight: GVD's, 0.1 each on Flickr30k.
  """

  cross_entropy_weight: float = 1.0
  label_smoothing: float = 0.0
  branch_reduction: Literal["mean", "sum"] = "mean"
  sampling: SamplingConfig = dataclasses.field(default_factory=SamplingConfig)
  distill_weight: float = 0.0
  distill_loss: distillation.Kind = "kl"
  distill_area: float = 0.0
  box_supervision: Literal["none", "nll", "kl", "extend_nll"] = "none"
  box_weight: float = 0.1
  reconstruction_weight: float = 0.0
  reconstruction_words: Literal["all", "nouns"] = "all"
  localized_words: Literal["all", "nouns"] = "all"
  consistency_weight: float = 0.0
  attention_weight: float = 0.0
  grounding_weight: float = 0.0
  classification_weight: float = 0.0


class CaptioningTrainer(trainer.Trainer):
  """Losses of a captioner; `evaluate` is left to who knows the validation data.

  Args:
    model: any captioner.
    config: what to learn.
    vocabulary: the model's; GVD's grounding and classification losses need its labels.
  """

  best_metric = "cider"

  def __init__(
    self,
    model: base.Captioner,
    config: CaptioningConfig,
    vocabulary: vocabularies.Vocabulary | None = None,
  ):
    self.model, self.config = model, config
    self.word_classes = word_classes(vocabulary) if vocabulary else ()
    self.sampling_chance = tf.Variable(0.0, trainable=False, name="sampling_chance")
    _check(model, config, self.word_classes)

  def begin_epoch(self, epoch: int) -> None:
    """Sets what depends on the epoch (0-based): the chance of scheduled sampling."""
    self.sampling_chance.assign(self.config.sampling.chance(epoch))

  def losses(self, batch: dict[str, tf.Tensor], seed: tf.Tensor) -> dict[str, tf.Tensor]:
    config, model = self.config, self.model
    tokens, token_mask = batch["tokens"], batch["token_mask"]
    counted = self.counted(batch)
    memory = model.encode(batch, seed)
    outputs = model.teacher_force(memory, tokens, seed, **self._options())

    word_loss = self._word_loss(outputs, tokens, token_mask, seed, config.label_smoothing)
    if config.branch_reduction == "sum":
      word_loss *= float(outputs["attention"].shape[2])
    means = {
      "cross_entropy": config.cross_entropy_weight * word_loss,
      **self._attention_losses(batch, outputs),
      **self._cycle_losses(batch, memory, outputs, seed, counted),
      **self._region_losses(batch, memory, outputs, counted),
    }
    return {name: replicas.share(mean, counted[name], name) for name, mean in means.items()}

  def counted(self, batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """What each loss is a mean over: words [B, T], or words and regions [B, T, R]."""
    config, token_mask, nouns = self.config, batch["token_mask"], _content_words(batch)
    counted = {"cross_entropy": token_mask}
    if config.distill_weight:
      if "teacher_attention" not in batch:
        raise errors.UserError(
          "distill_weight is above 0 but the batch has no teacher_attention: name a teacher"
        )
      counted["distillation"] = distillation.words(batch["teacher_attention"], batch["noun_mask"])
    if config.box_supervision != "none":
      counted["boxes"] = boxes.positives(config.box_supervision, batch["target_regions"])
    if config.reconstruction_weight:
      words = config.reconstruction_words
      counted["reconstruction"] = reconstruction.kept_words(token_mask, nouns, words)
    if config.consistency_weight:
      words = config.localized_words
      counted["consistency"] = reconstruction.kept_words(token_mask, nouns, words)
    if config.attention_weight:
      counted["attention"] = gvd.pairs(batch["target_regions"])
    if config.grounding_weight or config.classification_weight:
      named = (self._classes(batch) > 0)[..., tf.newaxis]
      counted["grounding"] = gvd.pairs(batch["target_regions"]) & named
      counted["classification"] = counted["grounding"]
    return counted

  def _classes(self, batch) -> tf.Tensor:
    """The label id of every word of the batch: int32 [B, T]."""
    return tf.gather(tf.constant(self.word_classes, tf.int32), batch["tokens"])

  def _options(self) -> dict:
    """What else than the contract asks `teacher_force` is told."""
    options, extras = {}, []
    if self.config.sampling.start >= 0:
      options["sampling"] = self.sampling_chance
    if self._cycles and self.model.config.localizer == "hidden":
      extras.append("query")
    if self.config.attention_weight or self.config.grounding_weight:
      extras.append("scores")
    return {**options, "extras": tuple(extras)} if extras else options

  @property
  def _cycles(self) -> bool:
    return self.config.reconstruction_weight > 0 or self.config.consistency_weight > 0

  def _word_loss(self, outputs, tokens, word_mask, seed, label_smoothing=0.0):
    """Mean over words and branches; logits of padding are never computed where avoidable."""
    if "hidden" not in outputs:
      return cross_entropy.token_mean(outputs["logits"], tokens, word_mask, label_smoothing)
    hidden = tf.boolean_mask(outputs["hidden"], word_mask)  # [n, K, H]
    logits = self.model.word_logits(hidden, seed)  # [n, K, V]
    words = tf.boolean_mask(tokens, word_mask)[:, tf.newaxis]
    words = tf.broadcast_to(words, tf.shape(logits)[:2])
    return cross_entropy.packed_token_mean(logits, words, label_smoothing)

  def _attention_losses(self, batch, outputs):
    """Terms on the attention of the first branch, the one that sees every region."""
    config, losses, attention = self.config, {}, outputs["attention"][:, :, 0]
    if config.distill_weight:
      teacher, nouns = batch["teacher_attention"], batch["noun_mask"]
      if config.distill_area:
        teacher = distillation.prefer_large(teacher, batch["boxes"], config.distill_area)
      loss = distillation.loss(config.distill_loss, teacher, attention, nouns)
      losses["distillation"] = config.distill_weight * loss
    if config.box_supervision != "none":
      targets, kind = batch["target_regions"], config.box_supervision
      loss = boxes.loss(kind, targets, attention, _per_caption(batch["region_mask"], targets))
      losses["boxes"] = config.box_weight * loss
    return losses

  def _cycle_losses(self, batch, memory, outputs, seed, counted):
    if not self._cycles:
      return {}
    config, tokens, nouns = self.config, batch["tokens"], _content_words(batch)
    words = tf.argmax(outputs["logits"], -1, output_type=tf.int32)
    rebuilt = self.model.reconstruct(
      memory,
      tokens,
      words,
      seed,
      query=outputs.get("query"),
      keep=nouns if config.localized_words == "nouns" else None,
    )
    losses = {}
    if config.reconstruction_weight:
      loss = self._word_loss(rebuilt, tokens, counted["reconstruction"], seed)
      losses["reconstruction"] = config.reconstruction_weight * loss
    if config.consistency_weight:
      loss = reconstruction.consistency(
        rebuilt["attention"][:, :, 0], outputs["attention"][:, :, 0], counted["consistency"]
      )
      losses["consistency"] = config.consistency_weight * loss
    return losses

  def _region_losses(self, batch, memory, outputs, counted):
    config, losses = self.config, {}
    if config.attention_weight or config.grounding_weight:
      scores = outputs["scores"][:, :, 0]
      mask = _per_caption(batch["region_mask"], scores)
    if config.attention_weight:
      loss = gvd.attention_loss(scores, counted["attention"], mask)
      losses["attention"] = config.attention_weight * loss
    if config.grounding_weight or config.classification_weight:
      classes = self._classes(batch)
      class_logits = _per_caption(memory["class_logits"], classes)
    if config.grounding_weight:
      grounded = gvd.grounding_scores(class_logits, classes, scores)
      loss = gvd.attention_loss(grounded, counted["grounding"], mask)
      losses["grounding"] = config.grounding_weight * loss
    if config.classification_weight:
      loss = gvd.classification_loss(class_logits, classes, counted["classification"])
      losses["classification"] = config.classification_weight * loss
    return losses


def word_classes(vocabulary: vocabularies.Vocabulary) -> tuple[int, ...]:
  """The label id of every word, itself or by its lemma; 0 for words that name no label."""
  labels = vocabulary.label_ids
  if not labels:
    return ()
  return tuple(labels.get(word) or labels.get(lemmas.lemma(word), 0) for word in vocabulary.words)


def _check(model, config, word_classes) -> None:
  options = model.config
  if (config.reconstruction_weight or config.consistency_weight) and (
    getattr(options, "localizer", "none") == "none"
  ):
    raise errors.UserError(
      "reconstruction needs a captioner with a localiser: set its option localizer to linear, "
      "mlp or hidden, or train the model cyclical"
    )
  if (config.grounding_weight or config.classification_weight) and (
    not any(word_classes) or getattr(options, "num_classes", 0) < max(word_classes)
  ):
    raise errors.UserError(
      "grounding_weight and classification_weight need the model gvd with one class for each of "
      f"the vocabulary's region labels: set num_classes to {max(word_classes, default=0)}"
    )
  wants_scores = config.attention_weight or config.grounding_weight
  if (wants_scores or config.sampling.start >= 0) and not hasattr(options, "branches"):
    raise errors.UserError(
      "attention_weight, grounding_weight and scheduled sampling need the model updown, gvd, "
      "distributed or cyclical"
    )


def _per_caption(of_pictures: tf.Tensor, of_captions: tf.Tensor) -> tf.Tensor:
  """[I, ...] -> [B, ...], picture-major."""
  times = tf.shape(of_captions)[0] // tf.shape(of_pictures)[0]
  return tf.repeat(of_pictures, times, axis=0)


def _content_words(batch) -> tf.Tensor:
  """Nouns, and verbs where the data marks them: bool [B, T]."""
  nouns = batch["noun_mask"]
  return nouns | batch["verb_mask"] if "verb_mask" in batch else nouns
