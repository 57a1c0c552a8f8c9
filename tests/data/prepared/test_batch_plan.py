import collections
import types

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from gcap_tf import errors
from gcap_tf.data.prepared import batch_plan


class _Counts(types.SimpleNamespace):
  """What a plan needs of a `prepared.Split`."""

  def __len__(self):
    return len(self.captions)


def _split(captions, words):
  captions = np.array(captions, np.int32)
  return _Counts(
    name="train",
    captions=captions,
    words=np.array(words, np.int32),
    caption_starts=np.cumsum(captions) - captions,
    caption_pictures=np.repeat(np.arange(len(captions)), captions),
    image_ids=np.arange(len(captions)).astype(str),
    max_words=max(words),
  )


def _make(seed, pictures, most=6):
  rng = np.random.default_rng(seed)
  captions = rng.integers(1, most + 1, pictures)
  words = rng.integers(1, 25, captions.sum())
  return _split(captions, words)


CASES = st.tuples(st.integers(0, 99), st.integers(1, 60), st.integers(1, 9), st.integers(1, 7))


@hypothesis.settings(deadline=None)
@hypothesis.given(CASES, st.sampled_from([(), (5,), (4, 9, 16), (4, 40)]), st.booleans())
def test_every_caption_comes_exactly_once_but_for_filling_up(case, buckets, shuffle):
  seed, pictures, images, _ = case
  split = _make(seed, pictures)
  config = batch_plan.BatchConfig(
    images=images, items="caption", buckets=buckets, seed=seed, shuffle=shuffle
  )
  plan = batch_plan.training_plan(split, config, epoch=3)
  assert len(plan.words) == batch_plan.steps_per_epoch(split, config)
  assert len(plan.words) == int(np.ceil(len(split.words) / images))
  counts = collections.Counter(plan.captions.ravel().tolist())
  assert set(counts) == set(range(len(split.words)))
  assert sum(counts.values()) - len(counts) < images
  np.testing.assert_array_equal(split.caption_pictures[plan.captions[..., 0]], plan.pictures)


@hypothesis.settings(deadline=None)
@hypothesis.given(CASES, st.booleans())
def test_pictures_come_once_with_consecutive_captions_of_their_own(case, shuffle):
  seed, pictures, images, k = case
  split = _make(seed, pictures)
  config = batch_plan.BatchConfig(
    images=images, captions_per_image=k, seed=seed, buckets=(8,), shuffle=shuffle
  )
  plan = batch_plan.training_plan(split, config, epoch=0)
  assert set(plan.pictures.ravel()) == set(range(pictures))
  assert plan.pictures.size - pictures < images
  for picture, captions in zip(plan.pictures.ravel(), plan.captions.reshape(-1, k), strict=True):
    first = split.caption_starts[picture]
    assert all(first <= caption < first + split.captions[picture] for caption in captions)
    if split.captions[picture] >= k:
      assert captions.tolist() == list(range(captions[0], captions[0] + k))


@hypothesis.settings(deadline=None)
@hypothesis.given(CASES)
def test_a_batch_has_room_for_its_longest_caption(case):
  seed, pictures, images, k = case
  split = _make(seed, pictures)
  config = batch_plan.BatchConfig(
    images=images, captions_per_image=k, buckets=(6, 12, 18), max_words=20
  )
  for plan in (
    batch_plan.training_plan(split, config, epoch=1),
    batch_plan.evaluation_plan(split, batch_plan.BatchConfig(images=images, buckets=(6, 12, 18))),
  ):
    longest = np.minimum(split.words[plan.captions].max(axis=(1, 2)), 20)
    assert (longest <= plan.words).all()
    assert set(plan.words) <= {6, 12, 18, 20}


def test_large_buckets_waste_little():
  split = _make(0, 400)
  config = batch_plan.BatchConfig(images=8, items="caption", buckets=(6, 12, 18), max_words=24)
  plan = batch_plan.training_plan(split, config, epoch=0)
  # Without carried leftovers every caption would sit in its own bucket; three buckets can
  # pass on at most 7 captions each.
  own = np.searchsorted([6, 12, 18, 24], split.words[plan.captions[..., 0]])
  given = np.searchsorted([6, 12, 18, 24], plan.words)[:, None]
  assert (own != given).sum() <= 3 * 7 + 7


def test_the_order_depends_on_seed_and_epoch_alone():
  split = _make(1, 50)

  def captions(seed, epoch):
    config = batch_plan.BatchConfig(images=4, items="caption", seed=seed)
    return batch_plan.training_plan(split, config, epoch).captions.tolist()

  assert captions(0, 0) == captions(0, 0)
  assert captions(0, 0) != captions(0, 1)
  assert captions(0, 0) != captions(1, 0)


def test_all_consecutive_runs_of_captions_are_drawn():
  split = _split([5], [3] * 5)
  config = batch_plan.BatchConfig(images=1, captions_per_image=3)
  starts = {
    int(batch_plan.training_plan(split, config, epoch).captions[0, 0, 0]) for epoch in range(60)
  }
  assert starts == {0, 1, 2}


def test_evaluation_keeps_the_order_and_marks_what_fills_up():
  split = _make(2, 5)
  plan = batch_plan.evaluation_plan(split, batch_plan.BatchConfig(images=3))
  assert plan.pictures.tolist() == [[0, 1, 2], [3, 4, 0]]
  assert plan.filled.tolist() == [[True] * 3, [True, True, False]]


def test_evaluation_refuses_pictures_with_too_few_captions():
  split = _split([5, 2], [3] * 7)
  config = batch_plan.BatchConfig(images=2, captions_per_image=5)
  with pytest.raises(errors.UserError, match="picture 1 of split train has 2 captions"):
    batch_plan.evaluation_plan(split, config)


def test_zero_max_words_keeps_the_longest_caption_whole():
  split = _split([2], [3, 31])
  config = batch_plan.BatchConfig(images=1, max_words=0, buckets=(5,))
  assert batch_plan.bounds(split, config).tolist() == [5, 31]


@pytest.mark.parametrize(
  ("options", "message"),
  [
    ({"items": "caption", "captions_per_image": 5}, "choose items=picture"),
    ({"buckets": (9, 4)}, "ascending"),
  ],
)
def test_impossible_options_are_refused(options, message):
  with pytest.raises(errors.UserError, match=message):
    batch_plan.BatchConfig(**options)
