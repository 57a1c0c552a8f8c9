"""Official option names and defaults."""

import pytest

from gcap_tf import errors
from gcap_tf.interop import matcher_options


def test_missing_options_have_the_official_defaults():
  name, config = matcher_options.matcher_config("scan", {}, 10, False)
  assert name == "scan"
  assert (config.direction, config.aggregation, config.raw_norm) == (
    "t2i",
    "log_sum_exp",
    "clipped_l2norm",
  )
  assert (config.lambda_softmax, config.lambda_lse, config.joint_size) == (9.0, 6.0, 1024)
  assert not config.bidirectional


def test_the_switches_of_sgraf_are_on_by_default():
  _, config = matcher_options.matcher_config("sgraf", {}, 10, True)
  assert config.bidirectional
  assert (config.head, config.similarity_size, config.reasoning_steps) == ("SGR", 256, 3)


def test_bfan_reads_both_ways_and_focuses_equally():
  _, config = matcher_options.matcher_config("bfan", {}, 10, True)
  assert config.bidirectional
  assert (config.focus, config.lambda_softmax) == ("equal", 20.0)


def test_weights_decide_where_the_options_do_not_say():
  assert matcher_options.matcher_config("scan", {}, 10, True)[1].bidirectional


def test_pos_makes_a_scan_checkpoint_a_pos_scan():
  name, _ = matcher_options.matcher_config("scan", {"pos": True}, 10, False)
  assert name == "pos_scan"


@pytest.mark.parametrize(
  ("options", "message"),
  [
    ({"cross_attn": "both"}, "option cross_attn is 'both'; expected one of t2i, i2t"),
    ({"agg_func": "Median"}, "option agg_func is 'Median'"),
    ({"embed_size": 0}, "option embed_size is 0.0; expected a positive whole number"),
    ({"lambda_softmax": "nine"}, "option lambda_softmax is 'nine'; expected a number"),
  ],
)
def test_wrong_values_are_named(options, message):
  with pytest.raises(errors.UserError, match=message):
    matcher_options.matcher_config("scan", options, 10, False)


def test_an_unknown_family_lists_the_known():
  with pytest.raises(errors.UserError, match="known: scan, bfan, pfan, sgraf"):
    matcher_options.matcher_config("clip", {}, 10, False)
