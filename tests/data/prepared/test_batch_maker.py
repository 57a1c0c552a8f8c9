import dataclasses

import numpy as np
import pytest

from gcap_tf import box_geometry, errors
from gcap_tf.data import records
from gcap_tf.data.prepared import batch_maker, batch_plan, prepare
from gcap_tf.text import vocabulary as vocabularies
from tests.data import make_records, make_videos


def _batch(split, vocabulary, pictures, captions, words, parts=("regions", "captions"), **options):
  config = batch_plan.BatchConfig(max_words=words, **options)
  maker = batch_maker.BatchMaker(split, vocabulary, config, parts)
  captions = np.array(captions)
  filled = np.ones(len(pictures), bool)
  return maker.make(np.array(pictures), captions, filled, words)


@pytest.fixture
def items():
  return make_records.make_records(4, captions=2)


@pytest.fixture
def split(items, tmp_path):
  return make_records.write_folder(tmp_path / "out", {"train": items}).split("train")


def _iou(box, other):
  width = min(box[2], other[2]) - max(box[0], other[0])
  height = min(box[3], other[3]) - max(box[1], other[1])
  shared = max(width, 0) * max(height, 0)
  areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (box, other)]
  return shared / (sum(areas) - shared)


@pytest.mark.parametrize("layout", ["matcher", "captioner"])
def test_every_array_is_that_of_a_plain_loop(items, split, layout):
  vocabulary = split.data.build_vocabulary(layout, 1)
  batch = _batch(split, vocabulary, [2, 0], [[4, 5], [1, 0]], words=7)
  first = 1 if layout == "matcher" else 0
  chosen = [(2, 0), (2, 1), (0, 1), (0, 0)]
  assert batch["tokens"].shape == (4, 7 + first + 1)
  for b, (picture, number) in enumerate(chosen):
    record = items[picture]
    caption = record.captions[number]
    words = caption.tokens[:7]
    expected = vocabulary.encode(words)
    slots = len(expected) + (1 - first)
    assert batch["tokens"][b, : len(expected)].tolist() == expected
    assert not batch["tokens"][b, len(expected) :].any()
    assert batch["token_mask"][b].tolist() == [t < slots for t in range(7 + first + 1)]
    assert batch["caption_id"][b] == caption.caption_id.encode()
    for t in range(7 + first + 1):
      noun = 0 <= t - first < len(words) and caption.tags[t - first] == "NOUN"
      assert batch["noun_mask"][b, t] == noun
      if layout == "captioner":
        verb = t < len(words) and caption.tags[t] == "VERB"
        assert batch["verb_mask"][b, t] == verb
      boxes = [thing.box_px for thing in caption.objects if thing.index == t - first < 7]
      for r, region in enumerate(record.regions.boxes_px):
        target = _iou(region, boxes[0]) if boxes else 0
        assert batch["target_regions"][b, t, r] == pytest.approx(target, abs=1e-6)
  for i, picture in enumerate([2, 0]):
    record = items[picture]
    regions = record.regions
    np.testing.assert_array_equal(batch["features"][i], regions.features)
    np.testing.assert_allclose(batch["boxes"][i], regions.boxes_px / [100, 50, 100, 50], rtol=1e-6)
    np.testing.assert_allclose(
      batch["global_feature"][i], sum(regions.features) / len(regions.features), rtol=1e-5
    )
    assert batch["image_size"][i].tolist() == [100, 50]
    assert batch["image_id"][i] == record.image_id.encode()
    labels = [vocabulary.labels.index(label) + 1 for label in regions.labels]
    assert batch["region_labels"][i].tolist() == labels


def test_fewer_regions_are_padded_with_zeros(items, split):
  vocabulary = split.data.build_vocabulary("matcher", 1)
  batch = _batch(split, vocabulary, [0], [[0]], words=9, max_regions=6)
  assert batch["region_mask"][0].tolist() == [True] * 4 + [False] * 2
  for name in ("features", "boxes", "region_labels"):
    assert not batch[name][0, 4:].any()
  assert not batch["target_regions"][..., 4:].any()


def test_more_regions_are_cut_and_the_mean_is_of_those_kept(items, split):
  vocabulary = split.data.build_vocabulary("matcher", 1)
  batch = _batch(split, vocabulary, [0], [[0]], words=9, max_regions=3)
  kept = items[0].regions.features[:3]
  np.testing.assert_array_equal(batch["features"][0], kept)
  np.testing.assert_allclose(batch["global_feature"][0], kept.mean(axis=0), rtol=1e-6)
  assert batch["target_regions"].shape[-1] == 3


def test_a_stored_global_feature_is_taken(tmp_path):
  items = make_records.make_records(2, global_size=3)
  split = make_records.write_folder(tmp_path / "out", {"train": items}).split("train")
  batch = _batch(split, split.data.build_vocabulary("matcher", 1), [1], [[5]], words=9)
  np.testing.assert_array_equal(batch["global_feature"][0], items[1].regions.global_feature)


def test_without_boxes_they_are_zeros_and_nothing_is_a_target(tmp_path):
  items = make_records.make_records(2, boxes=False)
  split = make_records.write_folder(tmp_path / "out", {"train": items}).split("train")
  batch = _batch(split, split.data.build_vocabulary("matcher", 1), [1], [[5]], words=9)
  assert not split.has_boxes
  assert not batch["boxes"].any() and not batch["target_regions"].any()
  assert batch["region_mask"].all()


def test_a_picture_without_regions_gives_zeros(tmp_path):
  items = make_records.make_records(2)
  none = records.Regions(np.zeros((0, 4), np.float32), np.zeros((0, 8), np.float32))
  items[0] = dataclasses.replace(items[0], regions=none)
  split = make_records.write_folder(tmp_path / "out", {"train": items}).split("train")
  vocabulary = split.data.build_vocabulary("captioner", 1)
  batch = _batch(split, vocabulary, [0, 1], [[0], [5]], words=9)
  assert batch["region_mask"].sum(axis=1).tolist() == [0, 4]
  assert not batch["global_feature"][0].any() and not batch["target_regions"][0].any()


def test_regions_that_carry_labels_only_have_features_of_size_0(tmp_path):
  items = [
    dataclasses.replace(record, regions=dataclasses.replace(record.regions, features=None))
    for record in make_records.make_records(2)
  ]
  split = make_records.write_folder(tmp_path / "out", {"train": items}).split("train")
  vocabulary = split.data.build_vocabulary("captioner", 1)
  batch = _batch(split, vocabulary, [1], [[5]], words=9)
  assert batch["features"].shape == (1, 4, 0) and batch["global_feature"].shape == (1, 0)
  assert batch["region_labels"].all() and batch["region_mask"].all()


def test_unknown_words_and_labels_get_the_unknown_ids(items, split):
  matcher = vocabularies.Vocabulary(
    "matcher", (*vocabularies.MATCHER_SPECIALS, "a"), labels=("nothing",)
  )
  batch = _batch(split, matcher, [0], [[0]], words=9)
  assert set(batch["tokens"].ravel()) <= {0, 1, 2, 3, 4} and 3 in batch["tokens"]
  assert not batch["region_labels"].any()
  assert batch["noun_mask"].sum() == 2
  captioner = vocabularies.Vocabulary("captioner", ("", "a", "UNK"))
  batch = _batch(split, captioner, [0], [[0]], words=9)
  assert not batch["noun_mask"].any()


def test_position_blocks_describe_the_boxes(items, split):
  vocabulary = split.data.build_vocabulary("matcher", 1)
  batch = _batch(split, vocabulary, [0], [[0]], words=9, position_blocks=True, max_regions=5)
  expected = box_geometry.pfan_blocks(batch["boxes"][0, :4])
  np.testing.assert_array_equal(batch["position_blocks"][0, :4], expected)
  assert (batch["position_blocks"][0, 4, :15] == box_geometry.PFAN_PAD).all()
  assert not batch["position_blocks"][0, 4, 15:].any()


def test_parts_leave_out_what_is_not_asked_for(split):
  vocabulary = split.data.build_vocabulary("matcher", 1)
  shared = {"image_id", "example_mask"}
  pictures = _batch(split, vocabulary, [0], [[0]], words=9, parts=("regions",))
  captions = _batch(split, vocabulary, [0], [[0]], words=9, parts=("captions",))
  assert set(captions) == shared | {"tokens", "token_mask", "noun_mask", "caption_id"}
  assert "features" in pictures and not set(pictures) & set(captions) - shared
  whole = _batch(split, vocabulary, [0], [[0]], words=9)
  assert set(whole) == set(pictures) | set(captions) | {"target_regions"}


@pytest.mark.parametrize(("layout", "first"), [("matcher", 1), ("captioner", 0)])
def test_a_teachers_attention_sits_at_its_words(items, split, layout, first):
  vocabulary = split.data.build_vocabulary(layout, 1)
  attention = np.random.default_rng(0).random([len(items[0].captions[0].tokens), 4])

  class Teacher:
    def get(self, caption_id):
      assert caption_id == items[0].captions[0].caption_id
      return attention

  config = batch_plan.BatchConfig(max_regions=3)
  maker = batch_maker.BatchMaker(split, vocabulary, config, teacher=Teacher())
  batch = maker.make(np.array([0]), np.array([[0]]), np.array([True]), 5)
  found = batch["teacher_attention"]
  assert found.shape == (1, 5 + 1 + first, 3)
  np.testing.assert_allclose(found[0, first : first + 5], attention[:5, :3], rtol=1e-6)
  assert found[0].sum() == pytest.approx(attention[:5, :3].sum(), rel=1e-6)


@pytest.mark.parametrize(
  ("options", "message"),
  [
    ({"images": 0}, r"batches\.images is 0; expected 1 or more"),
    ({"max_words": -1}, r"batches\.max_words is -1; expected 0 or more"),
    ({"buckets": (0, 4)}, r"batches\.buckets is 0; expected 1 or more"),
  ],
)
def test_options_out_of_their_range_are_refused(split, options, message):
  vocabulary = split.data.build_vocabulary("matcher", 1)
  with pytest.raises(errors.UserError, match=message):
    batch_maker.BatchMaker(split, vocabulary, batch_plan.BatchConfig(**options))


def test_words_of_a_teacher_are_those_of_its_tags(items, split):
  vocabulary = split.data.build_vocabulary("captioner", 1)
  tags = items[0].captions[0].tags
  chosen = ("NOUN", "PROPN", next(tag for tag in tags if tag not in ("NOUN", "PROPN")))
  count = len(tags)

  class Teacher:
    def get(self, caption_id):
      return np.ones([count, 4], np.float32)

  config = batch_plan.BatchConfig(teacher_tags=chosen, max_words=0)
  maker = batch_maker.BatchMaker(split, vocabulary, config, teacher=Teacher())
  batch = maker.make(np.array([0]), np.array([[0]]), np.array([True]), count)
  assert batch["teacher_words"][0, :count].tolist() == [tag in chosen for tag in tags]
  assert batch["noun_mask"][0, :count].tolist() == [tag in ("NOUN", "PROPN") for tag in tags]


def test_batches_are_the_same_with_and_without_a_cache(split):
  vocabulary = split.data.build_vocabulary("matcher", 1)
  makers = [
    batch_maker.BatchMaker(split, vocabulary, batch_plan.BatchConfig(cache_bytes=budget))
    for budget in (0, 3000, 1 << 30)
  ]
  arguments = (np.array([3, 1, 3]), np.array([[6], [2], [7]]), np.ones(3, bool), 9)
  batches = [maker.make(*arguments) for _ in range(2) for maker in makers]
  for batch in batches[1:]:
    for name, array in batches[0].items():
      np.testing.assert_array_equal(array, batch[name])


def test_cached_pictures_are_not_read_again(split, monkeypatch):
  vocabulary = split.data.build_vocabulary("matcher", 1)
  maker = batch_maker.BatchMaker(split, vocabulary, batch_plan.BatchConfig())
  arguments = (np.array([3]), np.array([[6]]), np.ones(1, bool), 9)
  maker.make(*arguments)
  monkeypatch.setattr(split, "record", lambda position: pytest.fail("read again"))
  maker.make(*arguments)


def test_a_picture_is_read_once_for_all_its_captions_in_a_batch(split, monkeypatch):
  vocabulary = split.data.build_vocabulary("matcher", 1)
  maker = batch_maker.BatchMaker(split, vocabulary, batch_plan.BatchConfig(cache_bytes=0))
  read, reads = split.record, []
  monkeypatch.setattr(split, "record", lambda position: reads.append(position) or read(position))
  maker.make(np.array([3, 1, 3]), np.array([[6], [2], [7]]), np.ones(3, bool), 9)
  assert sorted(reads) == [1, 3]


def test_boxes_in_a_picture_of_unknown_size_are_refused(tmp_path):
  (record,) = make_records.make_records(1)
  items = [dataclasses.replace(record, width=0)]
  split = make_records.write_folder(tmp_path / "out", {"train": items}).split("train")
  with pytest.raises(errors.UserError, match=f"picture {record.image_id} has boxes but no size"):
    _batch(split, split.data.build_vocabulary("matcher", 1), [0], [[0]], words=9)


def test_position_blocks_of_the_source_go_before_those_of_boxes(items, tmp_path):
  own = np.tile(np.arange(30, dtype=np.float32), [4, 1])
  regions = dataclasses.replace(items[0].regions, position_blocks=own)
  given = [dataclasses.replace(items[0], regions=regions)]
  data = make_records.write_folder(tmp_path / "blocks", {"train": given})
  assert data.has_position_blocks
  vocabulary = data.build_vocabulary("matcher", 1)
  batch = _batch(data.split("train"), vocabulary, [0], [[0]], words=7, position_blocks=True)
  np.testing.assert_array_equal(batch["position_blocks"][0], own)
  assert "verb_mask" not in batch  # A matcher has no use for it.


def test_the_marked_parts_of_speech_are_an_option(items, split):
  vocabulary = split.data.build_vocabulary("matcher", 1)
  batch = _batch(split, vocabulary, [0], [[0]], words=9, noun_tags=("ADJ", "VERB"))
  tags = items[0].captions[0].tags
  assert batch["noun_mask"][0, 1 : len(tags) + 1].tolist() == [t in ("ADJ", "VERB") for t in tags]


def test_scores_and_the_grid_are_in_the_batch_if_the_data_has_them(tmp_path):
  items = make_records.make_records(3, grid=(4, 5))
  items[1] = dataclasses.replace(
    items[1],
    regions=dataclasses.replace(
      items[1].regions, grid_features=items[1].regions.grid_features[:2], scores=None
    ),
  )
  split = make_records.write_folder(tmp_path / "out", {"train": items}).split("train")
  vocabulary = split.data.build_vocabulary("captioner", 1)
  batch = _batch(split, vocabulary, [0, 1], [[0], [5]], words=7)
  assert batch["grid_features"].shape == (2, 4, 5)
  assert batch["grid_mask"].tolist() == [[True] * 4, [True, True, False, False]]
  np.testing.assert_array_equal(batch["grid_features"][0], items[0].regions.grid_features)
  np.testing.assert_array_equal(batch["region_scores"][0], items[0].regions.scores)
  assert batch["region_scores"][1].tolist() == [1, 1, 1, 1]


def test_captions_alone_have_no_grid(tmp_path):
  items = make_records.make_records(2, grid=(4, 5))
  split = make_records.write_folder(tmp_path / "out", {"train": items}).split("train")
  vocabulary = split.data.build_vocabulary("captioner", 1)
  assert "grid_features" not in _batch(split, vocabulary, [0], [[0]], 7, parts=("captions",))


def test_segments_carry_frames_their_span_and_their_position(tmp_path):
  make_videos.write(tmp_path / "raw")
  config = prepare.PrepareConfig(
    "activitynet_entities",
    source=str(tmp_path / "raw"),
    regions=str(make_videos.write_store(tmp_path / "store")),
  )
  split = prepare.prepare(config, tmp_path / "out", workers=1).split("train")
  vocabulary = split.data.build_vocabulary("captioner", 1)
  found = _batch(split, vocabulary, [0, 2], [[0], [2]], words=6)
  record = split.record(0)
  assert found["frame"].tolist() == [np.repeat(np.arange(10), 2).tolist()] * 2
  np.testing.assert_allclose(found["boxes"][0], record.regions.boxes_px / 720, rtol=1e-6)
  assert found["segment"].tolist() == [[0, 3], [0, 2]]
  assert found["grid_mask"].sum(1).tolist() == [12, 7]
  mean = record.regions.grid_features.mean(0)
  expected = np.concatenate([mean, [0, 2, 0, 0.25]])
  np.testing.assert_allclose(found["global_feature"][0], expected, rtol=1e-5)
  # The man (word 1) has boxes in frames 2 and 7; the region at his box in frame 2 is number 4.
  targets = found["target_regions"][0, 1]
  assert targets[4] == pytest.approx(1.0)
  others = [frame for frame in range(10) if frame not in (2, 7)]
  assert (targets[np.isin(found["frame"][0], others)] == -1).all()
