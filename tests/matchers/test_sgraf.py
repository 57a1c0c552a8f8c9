"""SGRAF: the contract, golden numbers, training mode."""

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.matchers import sgraf
from tests import matcher_harness
from tests.layers import golden
from tests.layers.golden import sine

BATCH = matcher_harness.example_batch()


def small(head="SGR", **options):
  return matcher_harness.small(sgraf.SGRAFMatcher, head=head, similarity_size=4, **options)


@pytest.mark.parametrize("head", ["SGR", "SAF"])
def test_the_contract(head):
  matcher_harness.check_matcher(lambda: small(head), BATCH, permutes=False)


def golden_matcher(head):
  """Weights filled in the order of the released state dict, in its (out, in) layout."""
  matcher = sgraf.SGRAFMatcher(
    sgraf.SGRAFConfig(vocabulary_size=5, joint_size=8, similarity_size=4, head=head)
  )
  k = iter(range(100))

  def linear(layer, outputs, inputs):
    layer.kernel.assign(sine((outputs, inputs), next(k)).T)
    layer.bias.assign(sine((outputs,), next(k)))

  def norm(layer, size):
    layer.gamma.assign(sine((size,), next(k)))
    layer.beta.assign(sine((size,), next(k)))

  picture, caption = matcher.picture_vector, matcher.caption_vector
  linear(picture.local, 8, 8)
  norm(picture.local_norm, 36)
  linear(picture.overall, 8, 8)
  norm(picture.overall_norm, 8)
  linear(picture.common, 1, 8)
  linear(caption.local, 8, 8)
  linear(caption.overall, 8, 8)
  linear(caption.common, 1, 8)
  linear(matcher.local_projection, 4, 8)
  linear(matcher.global_projection, 4, 8)
  linear(matcher.readout, 1, 4)
  if head == "SAF":
    matcher.head.kernel.assign(sine((4,), next(k)))
    matcher.head.bias.assign(sine((), next(k)))
    norm(matcher.head.norm, 1)
  else:
    for step in matcher.head.steps:
      linear(step.query, 4, 4)
      step.key_kernel.assign(sine((4, 4), next(k)).T)
      next(k)  # The bias of the keys, which the softmax cancels.
      linear(step.update, 4, 4)
  return matcher


@pytest.mark.parametrize(
  ("head", "expected"),
  [
    ("SAF", [0.45276068, 0.46455196, 0.44732129, 0.46189037]),
    ("SGR", [0.64090538, 0.64090597, 0.64099006, 0.64095830]),
  ],
)
def test_golden_scores_of_the_released_similarity(head, expected):
  matcher = golden_matcher(head)
  v, e, mask = golden.inputs(regions=36, size=8)
  v, e = tf.constant(v, tf.float32), tf.constant(e, tf.float32)
  images = {"regions": v, "region_mask": tf.ones([2, 36], bool)}
  captions = {"words": e, "word_mask": tf.constant(mask), "noun_mask": tf.constant(mask)}
  images["picture_vector"] = matcher.picture_vector(v, images["region_mask"])
  captions["caption_vector"] = matcher.caption_vector(e, captions["word_mask"])
  scores = matcher.similarity(images, captions).numpy()
  np.testing.assert_allclose(scores.ravel(), expected, atol=1e-6)


def test_only_saf_scores_depend_on_other_pairs_in_training():
  for head, independent in (("SGR", True), ("SAF", False)):
    matcher = small(head)
    assert matcher.pairs_are_independent == independent
    images, captions = matcher.encode_images(BATCH), matcher.encode_captions(BATCH)
    whole = matcher.similarity(images, captions, training=True).numpy()
    first = {name: tensor[:2] for name, tensor in images.items()}
    part = matcher.similarity(first, captions, training=True).numpy()
    assert np.allclose(whole[:2], part, atol=1e-5) == independent


def test_dropout_and_statistics_move_only_in_training():
  matcher = small("SAF")
  before = [w.numpy() for w in matcher.non_trainable_variables]
  matcher_harness.similarity(matcher, BATCH)
  for old, new in zip(before, matcher.non_trainable_variables, strict=True):
    np.testing.assert_array_equal(old, new.numpy())
  seed = tf.constant([3, 4])
  images, captions = matcher.encode_images(BATCH, seed), matcher.encode_captions(BATCH, seed)
  matcher.similarity(images, captions, training=True)
  moved = [
    np.abs(old - new.numpy()).max() > 0
    for old, new in zip(before, matcher.non_trainable_variables, strict=True)
  ]
  assert all(moved)


def test_more_regions_than_the_model_has_statistics_for_are_refused_in_one_line():
  with pytest.raises(errors.UserError, match=r"^sgraf was built for 5 regions") as raised:
    small(regions=5).encode_images(BATCH)
  assert str(raised.value).endswith("keep 5 regions, or train sgraf with regions=6")
