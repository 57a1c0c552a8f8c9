"""Presets of published matcher runs."""

import pytest

from gcap_tf import config, errors
from gcap_tf.matchers import catalog
from gcap_tf.recipes import matchers


def test_every_recipe_is_a_valid_configuration_of_its_model():
  assert len(matchers.RECIPES.names()) == 30
  for name in matchers.RECIPES.names():
    training = matchers.RECIPES.get(name).training
    cls = catalog.MATCHERS.get(training.model)
    made = config.from_dict(cls.Config, {"vocabulary_size": 10, **training.options}, name)
    assert made.vocabulary_size == 10
    assert config.from_dict(type(training), config.to_dict(training)) == training


def test_schedules_are_the_published_ones():
  scan = matchers.RECIPES.get("scan_t2i_avg_coco").training
  assert (scan.epochs, scan.schedule.learning_rate, scan.schedule.every) == (20, 5e-4, 10)
  assert scan.batch_size == 128
  assert scan.losses.margin == 0.2
  sgr = matchers.RECIPES.get("sgraf_sgr_f30k").training
  assert (sgr.epochs, sgr.schedule.every) == (40, 30)
  assert matchers.RECIPES.get("scan_i2t_lse_coco").training.options["lambda_lse"] == 20.0


def test_constrained_recipes_differ_in_their_losses_alone():
  plain = matchers.RECIPES.get("bfan_equal_f30k").training
  both = matchers.RECIPES.get("bfan_equal_ccr_ccs_f30k").training
  assert both.options == plain.options
  assert (both.losses.ccr_weight, both.losses.ccs_weight) == (0.1, 0.1)


def test_ensembles_have_known_members_and_printed_sums():
  for ensemble in matchers.ENSEMBLES.values():
    for member in ensemble.members:
      matchers.RECIPES.get(member)
  sums = {name: e.expected["rsum"] for name, e in matchers.ENSEMBLES.items()}
  # Printed sums of the rows with both constraints; that of PFAN follows from its recalls.
  assert sums["scan_ccr_ccs_f30k"] == 472.3
  assert sums["pfan_ccr_ccs_f30k"] == 477.3
  assert sums["bfan_ccr_ccs_f30k"] == 481.9
  assert sums["sgraf_ccr_ccs_f30k"] == 504.7


def test_a_misspelt_recipe_names_the_nearest():
  with pytest.raises(errors.UserError, match="did you mean"):
    matchers.RECIPES.get("scan_t2i_avg_f30")
