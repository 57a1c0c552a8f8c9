import numpy as np

from gcap_tf.losses import detection


def _sigmoid(x):
  return 1 / (1 + np.exp(-x))


def test_quality_focal_is_the_formula_cell_by_cell():
  logits = np.array([[0.3, -2.0, 1.0]], np.float32)
  quality = np.array([[0.8, 0.0, 0.5]], np.float32)
  counted = np.array([[True, True, False]])
  expected = 0.0
  for x, q in ((0.3, 0.8), (-2.0, 0.0)):
    p = _sigmoid(x)
    expected += (q - p) ** 2 * -(q * np.log(p) + (1 - q) * np.log(1 - p))
  np.testing.assert_allclose(detection.quality_focal(logits, quality, counted), expected, rtol=1e-5)


def test_a_score_equal_to_its_quality_costs_nothing():
  quality = np.array([[0.7]], np.float32)
  logits = np.log(quality / (1 - quality))
  np.testing.assert_allclose(detection.quality_focal(logits, quality, quality > 0), 0.0, atol=1e-9)


def test_overlap_counts_positives_alone():
  generalised = np.array([[0.5, -1.0, 0.0]], np.float32)
  positive = np.array([[True, False, True]])
  np.testing.assert_allclose(detection.overlap(generalised, positive), 0.5 + 1.0, rtol=1e-6)


def test_naming_learns_the_shares_of_words_and_skips_unnamed_regions():
  logits = np.array([[1.0, 2.0], [5.0, 0.0]], np.float32)
  counts = np.array([[1.0, 3.0], [0.0, 0.0]], np.float32)
  log_p = logits[0] - np.log(np.exp(logits[0]).sum())
  expected = -(0.25 * log_p[0] + 0.75 * log_p[1])
  np.testing.assert_allclose(detection.naming(logits, counts), expected, rtol=1e-5)
  assert detection.naming(logits, np.zeros_like(counts)) == 0
