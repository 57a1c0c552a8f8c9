"""One training step of a small captioner, for tests of regularisers."""

import numpy as np
import tensorflow as tf

from gcap_tf.captioners import catalog
from gcap_tf.text import vocabulary
from gcap_tf.training import loss_options, regularization
from gcap_tf.training.regularizers import base
from tests import captioner_harness

SEED = tf.constant([3, 4])
WORDS = vocabulary.Vocabulary(
  "captioner", ("", "dog", "dogs", "ball", "a", "the", "on", "red", "sits", "two", "UNK"),
  labels=("dog", "ball", "cat"),
)  # fmt: skip
SIZES = {
  "vocabulary_size": 11, "feature_size": 7, "embedding_size": 8, "hidden_size": 10, "dropout": 0.0,
}  # fmt: skip


def make_model(name="updown", **options):
  captioner_harness.fix_start()
  cls = catalog.CAPTIONERS.get(name)
  return cls(cls.Config(**SIZES | options))


def make_batch():
  """A batch with a teacher's attention: equal over the real regions of every noun."""
  batch = captioner_harness.make_batch()
  mask = np.repeat(batch["region_mask"].numpy(), 2, 0)[:, None] * 1.0
  teacher = mask / mask.sum(-1, keepdims=True) * batch["noun_mask"].numpy()[..., None]
  taught = {"teacher_attention": tf.constant(teacher, tf.float32)}
  return batch | taught | {"teacher_words": batch["noun_mask"]}


def take(model, batch=None, **losses) -> tuple[base.Regularizer, base.Step]:
  """The regulariser that `losses` turn on, and a step for it."""
  batch = batch or make_batch()
  config = loss_options.CaptioningLosses(**losses)
  (regularizer,) = regularization.active(config, model, WORDS)
  regularizer.check_batch(batch)
  memory = model.encode(batch, SEED)
  outputs = model.teacher_force(memory, batch["tokens"], SEED, extras=regularizer.extras)
  counted = {regularizer.name: regularizer.counted(batch)}
  return regularizer, base.Step(model, config, batch, memory, outputs, SEED, counted)
