import itertools

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.data.prepared import pipeline
from tests.data import make_records


@pytest.fixture(scope="module")
def data(tmp_path_factory):
  folder = tmp_path_factory.mktemp("prepared") / "out"
  return make_records.prepare_small(folder, train=13, val=5, captions=(3, 5))


@pytest.fixture(scope="module")
def vocabulary(data):
  return data.build_vocabulary("captioner", 1)


def _config(**options):
  return pipeline.BatchConfig(**{"images": 4, "max_words": 9, **options})


def _assert_same(one, other):
  assert one.keys() == other.keys()
  for name in one:
    np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_batches_fit_their_specification(data, vocabulary):
  config = _config(captions_per_image=3, buckets=(6, 7), position_blocks=True)
  dataset = pipeline.training_batches(data.split("train"), vocabulary, config)
  for batch in dataset.take(4):
    assert batch.keys() == dataset.element_spec.keys()
    for name, spec in dataset.element_spec.items():
      assert spec.is_compatible_with(batch[name]), name
    assert batch["tokens"].shape[0] == 12 and batch["tokens"].shape[1] in (7, 8, 10)
    assert batch["example_mask"].numpy().all()


def test_one_bucket_makes_every_shape_static(data, vocabulary):
  dataset = pipeline.training_batches(data.split("train"), vocabulary, _config())
  assert all(spec.shape.is_fully_defined() for spec in dataset.element_spec.values())
  assert dataset.element_spec["features"].shape == (4, 4, 8)


def test_a_step_traces_once_per_bucket(data, vocabulary):
  config = _config(items="caption", buckets=(6, 7))
  traces = []

  @tf.function(autograph=False)
  def step(batch):
    traces.append(1)
    return tf.reduce_sum(batch["tokens"])

  for batch in pipeline.training_batches(data.split("train"), vocabulary, config).take(40):
    step(batch)
  assert len(traces) == 3


@pytest.mark.parametrize("start", [1, 5, 17])
def test_a_run_goes_on_exactly_where_it_stopped(data, vocabulary, start):
  split, config = data.split("train"), _config(captions_per_image=2, buckets=(7,), seed=4)
  whole = pipeline.training_batches(split, vocabulary, config)
  rest = pipeline.training_batches(split, vocabulary, config, start_step=start)
  for one, other in zip(whole.skip(start).take(6), rest.take(6), strict=True):
    _assert_same(one, other)


def test_replicas_share_each_batch(data, vocabulary):
  split, config = data.split("train"), _config(captions_per_image=3, buckets=(7,))
  whole = pipeline.training_batches(split, vocabulary, config)
  halves = [pipeline.training_batches(split, vocabulary, config, replica=(n, 2)) for n in range(2)]
  for batch, first, second in itertools.islice(zip(whole, *halves, strict=True), 5):
    _assert_same(batch, {name: tf.concat([first[name], second[name]], 0) for name in batch})


def test_a_batch_that_replicas_cannot_share_is_refused(data, vocabulary):
  with pytest.raises(errors.UserError, match="cannot be shared equally by 3 replicas"):
    pipeline.training_batches(data.split("train"), vocabulary, _config(), replica=(0, 3))


def test_an_epoch_passes_over_every_caption(data, vocabulary):
  split, config = data.split("train"), _config(items="caption", buckets=(6, 7, 8))
  steps = pipeline.steps_per_epoch(split, config)
  seen = [
    caption_id
    for batch in pipeline.training_batches(split, vocabulary, config).take(steps)
    for caption_id in batch["caption_id"].numpy()
  ]
  everything = {
    caption.caption_id.encode() for n in range(13) for caption in split.record(n).captions
  }
  assert set(seen) == everything and len(seen) - len(everything) < 4


def test_parallel_readers_keep_the_order(data, vocabulary):
  split = data.split("train")
  one, many = (
    pipeline.training_batches(split, vocabulary, _config(readers=n)).take(30) for n in (1, 8)
  )
  for first, second in zip(one, many, strict=True):
    _assert_same(first, second)


def test_evaluation_reads_pictures_once_in_order(data, vocabulary):
  split = data.split("val")
  dataset = pipeline.evaluation_batches(split, vocabulary, _config(images=3), ("regions",))
  assert len(dataset) == 2 and "tokens" not in dataset.element_spec
  batches = list(dataset)
  mask = np.concatenate([batch["example_mask"] for batch in batches])
  ids = np.concatenate([batch["image_id"] for batch in batches])
  assert mask.tolist() == [True] * 5 + [False]
  assert [name.decode() for name in ids[mask]] == split.image_ids.tolist()


def test_evaluation_reads_captions_once_in_order(data, vocabulary):
  split = data.split("val")
  config = _config(images=4, captions_per_image=5)
  dataset = pipeline.evaluation_batches(split, vocabulary, config, ("captions",))
  assert "features" not in dataset.element_spec
  batches = list(dataset)
  mask = np.concatenate([batch["example_mask"] for batch in batches])
  ids = np.concatenate([batch["caption_id"] for batch in batches])[mask]
  expected = [caption.caption_id for n in range(5) for caption in split.record(n).captions]
  assert [name.decode() for name in ids] == expected


def test_evaluation_pairs_captions_with_their_pictures(data, vocabulary):
  split = data.split("val")
  for batch in pipeline.evaluation_batches(split, vocabulary, _config(items="caption")):
    for image_id, caption_id in zip(
      batch["image_id"].numpy(), batch["caption_id"].numpy(), strict=True
    ):
      assert caption_id.startswith(image_id)


def test_a_damaged_shard_names_itself(tmp_path, vocabulary):
  data = make_records.prepare_small(tmp_path / "out")
  split = data.split("train")
  path = tmp_path / "out" / "train-00000-of-00002.tfrecord"
  content = bytearray(path.read_bytes())
  content[40] ^= 1
  path.write_bytes(content)
  dataset = pipeline.training_batches(split, vocabulary, _config())
  with (
    pytest.raises(errors.UserError, match=r"train-00000-of-00002\.tfrecord: record 0 at byte 0"),
    pipeline.clear_errors(),
  ):
    list(dataset.take(3))


def test_other_errors_pass_unchanged():
  with pytest.raises(tf.errors.InvalidArgumentError), pipeline.clear_errors():
    tf.reshape(tf.zeros([3]), [2])
