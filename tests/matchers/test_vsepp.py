"""VSE++: the contract and both measures."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.matchers import vsepp
from tests import matcher_harness

BATCH = matcher_harness.example_batch()


@pytest.mark.parametrize("measure", ["cosine", "order"])
def test_the_contract(measure):
  matcher_harness.check_matcher(
    lambda: matcher_harness.small(vsepp.VSEPPMatcher, measure=measure, absolute=measure == "order"),
    BATCH,
  )


def encoded(**options):
  matcher = matcher_harness.small(vsepp.VSEPPMatcher, **options)
  images, captions = matcher.encode_images(BATCH), matcher.encode_captions(BATCH)
  return matcher, images, captions


def test_the_cosine_is_a_product_of_unit_vectors():
  matcher, images, captions = encoded()
  pooled = BATCH["global_feature"].numpy() @ matcher.image_encoder.kernel.numpy()
  image = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
  last = captions["word_mask"].numpy().sum(1) - 1
  caption = captions["words"].numpy()[np.arange(4), last]
  caption /= np.linalg.norm(caption, axis=1, keepdims=True)
  np.testing.assert_allclose(matcher.similarity(images, captions), image @ caption.T, atol=1e-6)


def test_the_order_measure_is_the_violation_of_the_order():
  matcher, images, captions = encoded(measure="order", absolute=True)
  scores = matcher.similarity(images, captions).numpy()
  im, s = images["image"].numpy(), captions["caption"].numpy()
  assert (im >= 0).all()
  for i in range(4):
    for j in range(4):
      expected = -np.linalg.norm(np.maximum(0, s[j] - im[i]))
      np.testing.assert_allclose(scores[i, j], expected, atol=1e-6)


def test_there_is_no_attention():
  matcher, images, captions = encoded()
  with pytest.raises(errors.UserError, match="has no attention"):
    matcher.attention(images, captions)
