"""Tests of gcap_tf/training/matcher_model.py."""

import pytest

from gcap_tf import errors
from gcap_tf.training import matcher_model
from tests.training import small_runs


def test_sgraf_has_a_place_for_every_region_of_the_data(tmp_path):
  data = small_runs.data(tmp_path)
  config = small_runs.matcher_config("sgraf")
  vocabulary = data.build_vocabulary("matcher", 1)
  assert matcher_model.model_config(data, vocabulary, config).regions == data.max_regions


def test_regions_that_lack_what_a_matcher_reads_are_refused(tmp_path):
  labelled = small_runs.data(tmp_path / "labelled", train=2, val=1, feature_size=0)
  matcher_model.check_regions(labelled, "scan")
  with pytest.raises(errors.UserError, match="regions without features; vsepp needs them"):
    matcher_model.check_regions(labelled, "vsepp")
  unplaced = small_runs.data(tmp_path / "unplaced", train=2, val=1, boxes=False)
  with pytest.raises(errors.UserError, match="pfan reads where regions are"):
    matcher_model.check_regions(unplaced, "pfan")


def test_a_global_feature_of_another_size_is_an_error_for_vsepp(tmp_path):
  data = small_runs.data(tmp_path, train=2, val=1, global_size=6)
  config = small_runs.matcher_config("vsepp")
  vocabulary = data.build_vocabulary("matcher", 1)
  with pytest.raises(errors.UserError, match="6 features of it and 8 of a region"):
    matcher_model.model_config(data, vocabulary, config)
