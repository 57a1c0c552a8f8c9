"""Counts of operations, by hand."""

import types

from benchmarks import matcher_flops

CONFIG = types.SimpleNamespace(
  joint_size=4, feature_size=3, word_size=2, similarity_size=2, reasoning_steps=3
)
SHAPE = types.SimpleNamespace(regions=5, words=6)


def test_encoding_counts_regions_and_both_directions_of_words():
  # Regions 2*5*3*4 = 120 a picture; words 2 directions * 2*6*(2+4)*12 = 1728 a caption.
  assert matcher_flops.encoding(CONFIG, 10, 1, SHAPE) == 10 * 120 + 1728


def test_scan_counts_affinities_and_the_gram_product():
  # 2*5*4*6 = 240 and 2*5*5*6 = 300 a pair.
  assert matcher_flops.scoring(CONFIG, "scan", 7, SHAPE) == 7 * 540


def test_bfan_counts_both_directions():
  # Twice 240, 300, and 2*6*6*5 = 360 a pair.
  assert matcher_flops.scoring(CONFIG, "bfan", 1, SHAPE) == 480 + 300 + 360


def test_reasoning_costs_more_than_filtration():
  sgr = matcher_flops.scoring(CONFIG, "sgr", 1, SHAPE)
  saf = matcher_flops.scoring(CONFIG, "saf", 1, SHAPE)
  # Two full steps: 2 * 2*2*7*2*2 for products with matrices, 2 * 2*2*7*7*2 for edges.
  assert sgr - saf == 2 * 2 * (2 * 7 * 2 * 2) + 2 * 2 * (2 * 7 * 7 * 2)


def test_a_step_scores_all_pairs_once_and_some_with_gradients():
  encode = matcher_flops.encoding(CONFIG, 4, 4, SHAPE)
  backward = 2 * encode - 4 * 120
  every = matcher_flops.scoring(CONFIG, "scan", 16, SHAPE)
  again = 3 * matcher_flops.scoring(CONFIG, "scan", 12, SHAPE)
  assert matcher_flops.training(CONFIG, "scan", 4, SHAPE) == encode + backward + every + again
