"""Tests of gcap_tf/evaluation/evaluators/retrieval.py."""

import numpy as np
import pytest

from gcap_tf.evaluation.evaluators import retrieval
from tests.evaluation.evaluators import subjects


def test_the_similarities_of_a_matcher_are_ranked(tmp_path):
  subject = subjects.matcher(tmp_path)
  assert subject.similarity.shape == (5, 25)
  figures = retrieval.Retrieval().run(subject).values
  best = subject.similarity.argmax(0) == subject.split.caption_pictures
  np.testing.assert_allclose(figures["t2i_r1"], 100 * best.mean())


def test_pictures_add_up_to_recalls_and_their_sum(tmp_path):
  report = retrieval.Retrieval().run(subjects.matcher(tmp_path, statistics=True))
  assert len(report.statistics) == 7
  for name, found in report.statistics.items():
    assert found.value == pytest.approx(report.values[name]), name
