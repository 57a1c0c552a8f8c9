"""Tests of gcap_tf/recipes/videos.py: presets, printed figures and tables."""

import pytest

from gcap_tf import errors
from gcap_tf.captioners import catalog as captioners
from gcap_tf.recipes import catalog, scales, settings, videos
from tests.recipes import tables


@pytest.mark.parametrize("make_table", catalog.VIDEO_TABLES.values())
def test_presets_and_rows_are_valid_configurations(make_table):
  tables.check_presets(videos.CAPTIONERS, captioners.CAPTIONERS)
  tables.check_table(make_table, (captioners.CAPTIONERS,))


def test_presets_differ_from_pictures_as_published():
  supervised = catalog.CAPTIONERS.get("cyclical_supervised_anet").training
  losses = supervised.losses
  weights = (losses.attention_weight, losses.grounding_weight, losses.classification_weight)
  assert weights == (0.05, 0.0, 0.1)
  cycle = catalog.CAPTIONERS.get("cyclical_anet").training
  assert (cycle.images, cycle.first_stage_epochs, cycle.epochs) == (96, 50, 75)
  assert catalog.CAPTIONERS.get("distributed_k4_anet").training.options["branches"] == 4


@pytest.mark.parametrize(
  ("split", "segments", "f1_loc"), [("val", 8774, 15.84), ("test", 8731, 15.6)]
)
def test_printed_figures_are_those_of_the_split(split, segments, f1_loc):
  row = tables.small(videos.cyclical_table).row("cyclical")
  own = settings.setting_of("activitynet_entities", split, segments, "store")
  assert row.printed_for(own)["f1_loc"] == f1_loc
  assert row.printed_for(settings.F30K_TEST) == {}


def test_small_data_has_frames_of_its_own():
  for row in tables.small(videos.distributed_table).rows:
    assert "frame_parts" not in row.training.options


def test_a_paper_without_videos_says_which_have_some():
  scale = scales.SCALES.get("smoke")
  assert catalog.table("cyclical", scale, of_videos=True).row("zero_representation")
  with pytest.raises(errors.UserError, match="distributed and cyclical have"):
    catalog.table("pos_scan", scale, of_videos=True)
