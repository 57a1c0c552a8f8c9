"""What the benchmark compares gives the same numbers both ways."""

import numpy as np
import pytest
import tensorflow as tf

from benchmarks.peers import matchers_plain
from gcap_tf.matchers import bfan, scan, sgraf
from gcap_tf.training.methods import matching
from tests import matcher_harness

BATCH = matcher_harness.example_batch(images=4, full=True)
MAKERS = {
  "scan": lambda: matcher_harness.small(scan.SCANMatcher),
  "bfan": lambda: matcher_harness.small(bfan.BFANMatcher),
  "SGR": lambda: matcher_harness.small(sgraf.SGRAFMatcher, head="SGR", similarity_size=4),
  "SAF": lambda: matcher_harness.small(sgraf.SGRAFMatcher, head="SAF", similarity_size=4),
}


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_the_plain_scores_are_the_librarys(name):
  matcher = MAKERS[name]()
  images, captions = matcher.encode_images(BATCH), matcher.encode_captions(BATCH)
  plain = matchers_plain.similarity(matcher, images, captions).numpy()
  np.testing.assert_allclose(plain, matcher.similarity(images, captions), atol=2e-6)


def test_the_plain_loss_is_the_trainers():
  matcher, seed = MAKERS["scan"](), tf.constant([1, 2])
  trainer = matching.MatchingTrainer(matcher, matching.MatchingLosses())
  np.testing.assert_allclose(
    matchers_plain.training_loss(matcher, BATCH, seed),
    trainer.losses(BATCH, seed)["ranking"],
    rtol=1e-4,
  )
