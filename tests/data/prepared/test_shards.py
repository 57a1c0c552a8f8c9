import dataclasses
import hashlib

import hypothesis
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.prepared import shards
from tests.data import make_records

FLOATS = st.floats(width=32, allow_nan=False)
TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
LETTERS = st.characters(codec="utf-8", exclude_characters=" ")
WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=5), max_size=4)
BOX = hnp.arrays(np.float32, 4, elements=FLOATS)


@st.composite
def _regions(draw):
  count = draw(st.integers(0, 3))

  def maybe(*shape):
    return draw(st.none() | hnp.arrays(np.float32, shape, elements=FLOATS))

  labels = draw(st.just([]) | st.lists(TEXT, min_size=count, max_size=count))
  boxes, features = maybe(count, 4), maybe(count, draw(st.integers(0, 3)))
  if boxes is None and features is None:
    count = len(labels)
  scores, picture, blocks = maybe(count), maybe(3), maybe(count, 30)
  grid, colours = maybe(draw(st.integers(0, 3)), 2), draw(st.just(()) | st.just(tuple(labels)))
  return records.Regions(boxes, features, tuple(labels), scores, picture, blocks, grid, colours)


@st.composite
def _captions(draw):
  phrases = st.builds(
    records.Phrase,
    st.integers(0, 9),
    st.integers(0, 9),
    TEXT,
    st.lists(TEXT, max_size=2).map(tuple),
    st.integers(0, 2).flatmap(lambda n: hnp.arrays(np.float32, (n, 4), elements=FLOATS)),
  )
  objects = st.builds(records.ObjectWord, st.integers(0, 9), TEXT, BOX)
  return records.Caption(
    draw(TEXT),
    draw(TEXT),
    tuple(draw(WORDS)),
    tuple(draw(WORDS)),
    tuple(draw(st.lists(phrases, max_size=3))),
    tuple(draw(st.lists(objects, max_size=3))),
  )


RECORDS = st.builds(
  records.Record,
  image_id=TEXT,
  split=TEXT,
  width=st.integers(0, 9999),
  height=st.integers(0, 9999),
  captions=st.lists(_captions(), max_size=3).map(tuple),
  regions=st.none() | _regions(),
  annotated=st.lists(
    st.builds(records.AnnotatedObject, TEXT, BOX, TEXT, st.lists(TEXT, max_size=2).map(tuple)),
    max_size=2,
  ).map(tuple),
  picture=st.binary(max_size=9),
  picture_path=TEXT,
)


def _assert_equal(found, expected):
  """Same types, same values, arrays bit by bit."""
  assert type(found) is type(expected)
  if dataclasses.is_dataclass(expected):
    for field in dataclasses.fields(expected):
      _assert_equal(getattr(found, field.name), getattr(expected, field.name))
  elif isinstance(expected, tuple):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
      _assert_equal(one, other)
  elif isinstance(expected, np.ndarray):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()
  else:
    assert found == expected


@hypothesis.settings(deadline=None, max_examples=60)
@hypothesis.given(RECORDS)
def test_any_record_comes_back_as_it_was(record):
  _assert_equal(shards.decode(shards.encode(record)), record)


@hypothesis.settings(deadline=None, max_examples=50)
@hypothesis.given(RECORDS)
def test_decoding_and_encoding_again_gives_the_same_bytes(record):
  data = shards.encode(record)
  assert shards.encode(shards.decode(data)) == data


def test_tensorflow_parses_a_record():
  (record,) = make_records.make_records(1, regions=3, feature_size=5)
  parsed = tf.io.parse_single_example(
    shards.encode(record),
    {
      "captions/tokens": tf.io.FixedLenFeature([5], tf.string),
      "regions/features": tf.io.FixedLenFeature([], tf.string),
    },
  )
  features = tf.reshape(tf.io.decode_raw(parsed["regions/features"], tf.float32), [3, 5])
  np.testing.assert_array_equal(features, record.regions.features)
  assert parsed["captions/tokens"][0] == " ".join(record.captions[0].tokens).encode()


@pytest.mark.parametrize("word", ["", "two words"])
def test_a_word_with_a_space_or_no_letters_is_refused(word):
  caption = records.Caption("1", "", ("a", word))
  with pytest.raises(errors.UserError, match="empty or holds a space"):
    shards.encode(records.Record("1", "train", 1, 1, (caption,)))


def test_bytes_that_are_no_record_are_refused():
  with pytest.raises(errors.UserError, match="not a record of this program"):
    shards.decode(b"\xff\xff\xff")
  with pytest.raises(errors.UserError, match="not a record of this program"):
    shards.decode(b"")


def _written(path, items):
  with shards.ShardWriter(path) as writer:
    return [writer.write(item) for item in items]


ITEMS = [b"first", b"", b"third" * 1000]


def test_tensorflow_reads_a_shard(tmp_path):
  _written(tmp_path / "x.tfrecord", ITEMS)
  dataset = tf.data.TFRecordDataset(str(tmp_path / "x.tfrecord"))
  assert [item.numpy() for item in dataset] == ITEMS


def test_a_shard_that_tensorflow_wrote_is_read(tmp_path):
  with tf.io.TFRecordWriter(str(tmp_path / "x.tfrecord")) as writer:
    for item in ITEMS:
      writer.write(item)
  assert [data for _, data in shards.read_all(tmp_path / "x.tfrecord")] == ITEMS


def test_records_are_read_at_their_offsets_in_any_order(tmp_path):
  offsets = _written(tmp_path / "x.tfrecord", ITEMS)
  with open(tmp_path / "x.tfrecord", "rb") as file:
    assert shards.read_at(file, offsets[2]) == ITEMS[2]
    assert shards.read_at(file, offsets[0]) == ITEMS[0]
  assert [offset for offset, _ in shards.read_all(tmp_path / "x.tfrecord")] == offsets


def test_the_writer_hashes_what_it_writes(tmp_path):
  with shards.ShardWriter(tmp_path / "x.tfrecord") as writer:
    for item in ITEMS:
      writer.write(item)
  data = (tmp_path / "x.tfrecord").read_bytes()
  assert writer.sha256.hexdigest() == hashlib.sha256(data).hexdigest()
  assert writer.size == len(data)


def test_every_flipped_byte_is_found_and_named(tmp_path):
  path = tmp_path / "x.tfrecord"
  offsets = _written(path, [b"first", b"second"])
  whole = path.read_bytes()
  for position in range(offsets[1], len(whole)):
    broken = bytearray(whole)
    broken[position] ^= 0x10
    path.write_bytes(broken)
    with open(path, "rb") as file:
      assert shards.read_at(file, offsets[0], 0) == b"first"
      with pytest.raises(errors.UserError, match=r"x\.tfrecord: record 1 at byte 21 .*--check"):
        shards.read_at(file, offsets[1], 1)


def test_every_truncation_is_found(tmp_path):
  path = tmp_path / "x.tfrecord"
  (offset,) = _written(path, [b"first"])
  whole = path.read_bytes()
  for length in range(len(whole)):
    path.write_bytes(whole[:length])
    with (
      open(path, "rb") as file,
      pytest.raises(errors.UserError, match="record 0 at byte 0 is cut off"),
    ):
      shards.read_at(file, offset, 0)


def test_features_that_fit_into_float16_take_half_the_bytes():
  def sized(features):
    regions = records.Regions(features=features)
    return shards.encode(records.Record("a", "train", 0, 0, (), regions))

  short = np.arange(512, dtype=np.float32).reshape(2, 256)
  assert len(sized(short + np.float32(1e-3))) - len(sized(short)) > 1000  # 512 x 2 bytes.
  np.testing.assert_array_equal(shards.decode(sized(short)).regions.features, short)
