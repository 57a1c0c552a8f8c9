import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.data.prepared import region_noise

PICTURES, REGIONS, WORDS = 64, 6, 4
SEED = tf.constant([1, 2])
# Labels 1 to 4; a foreign detector calls 1 and 2 label 1, 3 itself, and does not see 4.
NAMES = region_noise.Names(np.array([0, 0, 2, -1]), np.array([5, 6, 7, 8]))


def make(features=0):
  rng = np.random.default_rng(0)
  count = np.full([PICTURES, 1], 5)
  mask = np.arange(REGIONS) < count
  low = rng.uniform(0, 0.5, [PICTURES, REGIONS, 2])
  boxes = np.concatenate([low, low + rng.uniform(0.1, 0.4, low.shape)], -1)
  number = np.tile(np.arange(REGIONS), [PICTURES, 1])
  values = np.where(mask[..., None], number[..., None] + rng.uniform(size=[1, 1, features]), 0)
  teacher = rng.uniform(size=[PICTURES, WORDS, REGIONS]) * mask[:, None]
  batch = {
    "features": values,
    "boxes": np.where(mask[..., None], boxes, 0),
    "region_mask": mask,
    "region_labels": np.where(mask, 1 + number % 4, 0).astype(np.int32),
    "frame": np.where(mask, number, 0).astype(np.int32),
    "global_feature": values.sum(1) / 5,
    "tokens": np.tile(np.array([5, 8, 9, 0], np.int32), [PICTURES, 1]),
    "token_mask": np.ones([PICTURES, WORDS], bool),
    "noun_mask": np.tile([True, True, False, False], [PICTURES, 1]),
    "teacher_attention": teacher / teacher.sum(-1, keepdims=True),
    "target_regions": np.tile(np.arange(REGIONS) / 10.0, [PICTURES, WORDS, 1]) * mask[:, None],
  }
  kinds = {"f": tf.float32, "i": tf.int32, "b": tf.bool}
  return {name: tf.constant(value, kinds[value.dtype.kind]) for name, value in batch.items()}


def change(batch=None, seed=SEED, names=NAMES, **options):
  batch = make() if batch is None else batch
  changer = region_noise.RegionChanger(region_noise.RegionNoise(**options), names)
  return {name: value.numpy() for name, value in changer(batch, seed).items()}


def test_no_noise_changes_nothing():
  batch = make()
  changer = region_noise.RegionChanger(region_noise.RegionNoise(), NAMES)
  assert changer(batch, SEED) is batch


def test_a_seed_repeats_its_changes_and_another_makes_others():
  options = {"drop": 0.5, "few": 0.5, "duplicate": 0.5, "unlabel": 0.5, "foreign": 0.5}
  first, again = change(**options), change(**options)
  other = change(seed=tf.constant([1, 3]), **options)
  for name in first:
    np.testing.assert_array_equal(first[name], again[name], err_msg=name)
  assert (first["region_mask"] != other["region_mask"]).any()


def test_about_the_share_is_dropped_and_one_region_always_stays():
  found = change(drop=0.4)["region_mask"].sum(1)
  assert found.mean() == pytest.approx(3, abs=0.4)
  assert (change(drop=1.0)["region_mask"].sum(1) == 1).all()


def test_few_regions_are_one_to_the_most():
  counts = change(few=1.0, few_most=3)["region_mask"].sum(1)
  assert set(counts.tolist()) == {1, 2, 3}
  counts = change(few=0.5, few_most=2)["region_mask"].sum(1)
  assert set(counts.tolist()) == {1, 2, 5}


def test_everything_of_a_region_follows_it():
  batch = make(features=3)
  found = change(batch, drop=0.5)
  frames, mask = found["frame"], found["region_mask"]
  for name in ("features", "boxes", "region_labels"):
    before = batch[name].numpy()
    moved = np.take_along_axis(before, frames.reshape(*frames.shape, *[1] * (before.ndim - 2)), 1)
    real = mask.reshape(*mask.shape, *[1] * (before.ndim - 2))
    np.testing.assert_array_equal(found[name], np.where(real, moved, 0), err_msg=name)
  np.testing.assert_allclose(
    found["target_regions"], np.tile((frames / 10.0 * mask)[:, None], [1, WORDS, 1]), atol=1e-6
  )


def test_real_regions_come_first():
  found = change(drop=0.5, duplicate=0.5)["region_mask"]
  np.testing.assert_array_equal(found, np.sort(found, 1)[:, ::-1])


def test_attention_sums_to_one_or_to_nothing():
  found = change(drop=0.5)
  sums = found["teacher_attention"].sum(-1)
  assert np.isclose(sums, 1, atol=1e-5).any() and (sums == 0).any()
  assert (np.isclose(sums, 1, atol=1e-5) | (sums == 0)).all()
  assert not found["teacher_attention"][~np.broadcast_to(
    found["region_mask"][:, None], found["teacher_attention"].shape
  )].any()  # fmt: skip


def test_the_mean_feature_is_that_of_the_regions_left():
  found = change(make(features=3), drop=0.5)
  count = found["region_mask"].sum(1, keepdims=True)
  np.testing.assert_allclose(found["global_feature"], found["features"].sum(1) / count, rtol=1e-5)
  batch = make(features=3)
  changer = region_noise.RegionChanger(region_noise.RegionNoise(drop=0.5), NAMES, False)
  np.testing.assert_array_equal(changer(batch, SEED)["global_feature"], batch["global_feature"])


def test_duplicates_fill_the_room_with_boxes_near_by():
  batch = make()
  found = change(batch, duplicate=1.0)
  assert (found["region_mask"].sum(1) == REGIONS).all()
  frames = found["frame"]
  assert (frames[:, -1] == 0).all() and (found["region_labels"][:, -1] == 1).all()
  sides = (found["boxes"][:, 0, 2:] - found["boxes"][:, 0, :2]).tolist()
  off = np.abs(found["boxes"][:, -1] - found["boxes"][:, 0])
  assert off.max() > 0 and (off <= 0.1 * np.tile(sides, 2) + 1e-6).all()


def test_unlabelled_regions_have_label_0_and_stay():
  found = change(unlabel=0.5)
  labels = found["region_labels"][found["region_mask"]]
  assert (labels == 0).mean() == pytest.approx(0.5, abs=0.1)
  assert (found["region_mask"].sum(1) == 5).all()


def test_a_foreign_detector_renames_and_leaves_out():
  found = change(foreign=1.0)
  labels = [row[mask].tolist() for row, mask in zip(
    found["region_labels"], found["region_mask"], strict=True
  )]  # fmt: skip
  assert all(row == [1, 1, 3, 1] for row in labels)


def test_names_of_missing_things_are_not_learned():
  # Label 4, whose word is 8, is not seen; the words 5 (label 1) and 9 (no label) stay.
  found = change(foreign=1.0)
  assert found["token_mask"].tolist() == [[True, False, True, True]] * PICTURES
  assert found["noun_mask"].tolist() == [[True, False, False, False]] * PICTURES
  assert change(foreign=1.0, mute=False)["token_mask"].all()


def test_labels_in_features_are_renamed_and_removed_there():
  names = region_noise.Names(NAMES.foreign, NAMES.words, columns=(1, 5))
  batch = make(features=6)
  chance = np.array([0.1, 0.2, 0.6, 0.1], np.float32)
  rows = np.zeros([PICTURES, REGIONS, 6], np.float32)
  rows[..., 0] = rows[..., 5] = 2.0
  rows[..., 1:5] = 4 * np.sqrt(chance)
  batch["features"] = tf.constant(rows * batch["region_mask"].numpy()[..., None])
  found = change(batch, names=names, foreign=1.0)["features"]
  wanted = [2.0, *(4 * np.sqrt([0.3, 0.0, 0.6, 0.0])), 2.0]
  np.testing.assert_allclose(found[0, 0], wanted, atol=1e-5)
  gone = change(batch, names=names, unlabel=1.0)["features"]
  np.testing.assert_allclose(gone[0, 0], [2.0, 0, 0, 0, 0, 2.0], atol=1e-6)


def test_regions_without_names_are_only_dropped_and_doubled():
  found = change(names=None, unlabel=1.0, foreign=1.0, drop=0.3)
  assert (found["region_labels"][found["region_mask"]] > 0).all() and found["token_mask"].all()


def test_it_works_in_a_graph_with_unknown_sizes():
  changer = region_noise.RegionChanger(region_noise.RegionNoise(few=1.0, duplicate=0.3), NAMES)
  run = tf.function(changer, reduce_retracing=True)
  for pictures in (3, 5):
    part = {name: value[:pictures] for name, value in make().items()}
    assert run(part, SEED)["region_mask"].shape == (pictures, REGIONS)
