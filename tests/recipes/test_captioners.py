"""Presets of published captioner runs."""

import pytest

from gcap_tf import config, errors
from gcap_tf.captioners import catalog
from gcap_tf.recipes import captioners
from gcap_tf.training import first_stage

SIZES = {"vocabulary_size": 10, "feature_size": 8}


def training(name):
  return captioners.RECIPES.get(name).training


@pytest.mark.parametrize("name", captioners.RECIPES.names())
def test_every_recipe_is_a_valid_configuration_of_its_model(name):
  chosen = training(name)
  cls = catalog.CAPTIONERS.get(chosen.model)
  assert config.from_dict(cls.Config, {**SIZES, **chosen.options}, name).feature_size == 8
  assert config.from_dict(type(chosen), config.to_dict(chosen)) == chosen
  if chosen.first_stage_epochs:
    assert first_stage.stage(chosen).epochs == chosen.first_stage_epochs < chosen.epochs


def test_up_down_has_the_published_hyper_parameters():
  chosen = training("updown_f30k")
  assert (chosen.images, chosen.captions_per_image, chosen.epochs, chosen.max_words) == (
    29, 5, 30, 16,
  )  # fmt: skip
  assert (chosen.optimizer.clip, chosen.optimizer.clip_at) == ("value", 0.1)
  assert (
    chosen.losses.scheduled_sampling.chance(4) == 0
    and chosen.losses.scheduled_sampling.chance(25) == 0.25
  )
  assert training("updown_coco").options["hidden_size"] == 1024


def test_distillation_weights_are_those_of_each_data_set():
  weights = [
    training(f"updown_distill_{name}").losses.distill_weight
    for name in ("f30k", "gvd_f30k", "coco")
  ]
  assert weights == [0.1, 0.2, 1.0]
  assert captioners.RECIPES.get("updown_distill_f30k").needs_teacher


def test_gvd_learns_its_region_map_and_classes_slower():
  slow = training("gvd_f30k").optimizer.slow
  assert slow == ("refine_region/kernel", "refine_region/bias", "classes/kernel")
  supervised = training("gvd_supervised_f30k")
  assert supervised.losses.grounding_weight == 0.1
  assert supervised.options["interaction_layers"] == 2


def test_distributed_rows_differ_in_branches_and_elimination():
  for k in (2, 3, 4, 5):
    assert training(f"distributed_k{k}_f30k").options == {"branches": k}
    assert training(f"distributed_k{k}_no_elimination_f30k").options["elimination"] is False
  assert training("distributed_k4_f30k").first_stage_epochs == 20
  assert captioners.RECIPES.get("distributed_k4_f30k").expected["f1_loc"] == 0.2154


def test_cyclical_variants_change_what_the_paper_changes():
  assert training("cyclical_baseline_f30k").losses.cross_entropy_weight == 0.5
  losses = training("cyclical_f30k").losses
  assert (losses.cross_entropy_weight, losses.reconstruction_weight) == (0.6, 0.4)
  assert training("cyclical_zero_loss_f30k").losses.reconstruction_words == "nouns"
  assert training("cyclical_zero_representation_f30k").losses.localized_words == "nouns"
  assert training("cyclical_mlp_f30k").options == {"localizer": "mlp"}
  assert training("cyclical_f30k").first_stage_weights == "best"


def test_a_misspelt_recipe_names_the_nearest():
  with pytest.raises(errors.UserError, match="did you mean"):
    captioners.RECIPES.get("distributed_k4_f30")
