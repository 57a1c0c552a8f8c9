"""Tests of gcap_tf/training/caption_table.py."""

import dataclasses

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.rewards import document_frequency
from gcap_tf.training.fine_tuning import caption_table
from tests.training import small_runs


@pytest.fixture(scope="module")
def data(tmp_path_factory):
  return small_runs.data(tmp_path_factory.mktemp("table"), captions=(2, 3))


def test_references_are_the_captions_cut_and_padded(data):
  split, vocabulary = data.split("train"), data.build_vocabulary("captioner", 20)
  references = caption_table.read(split, vocabulary).references(max_words=7)
  for position in range(len(split)):
    record = split.record(position)
    rows = references[record.image_id]
    assert rows.shape == (len(record.captions), 7)
    for row, caption in zip(rows, record.captions, strict=True):
      ids = vocabulary.encode(caption.tokens)[:7]
      assert row.tolist() == ids + [0] * (7 - len(ids))
  assert any((rows[:, -1] > 0).any() for rows in references.values())


def test_document_frequencies_count_whole_captions_with_their_end(data):
  split, vocabulary = data.split("train"), data.build_vocabulary("captioner", 1)
  found = caption_table.read(split, vocabulary).document_frequency()
  records = [split.record(n) for n in range(len(split))]
  expected = document_frequency.DocumentFrequency.from_captions(
    [[[*vocabulary.encode(c.tokens), 0] for c in record.captions] for record in records]
  )
  np.testing.assert_array_equal(found.keys, expected.keys)
  np.testing.assert_array_equal(found.counts, expected.counts)
  assert found.images == len(split)


def test_words_have_the_tags_of_most_of_their_occurrences():
  table = caption_table.CaptionTable(
    np.array(["p"]),
    np.array([2]),
    np.array([1, 2, 1, 1, 2, 3]),
    np.array([3, 3]),
    np.array(["NOUN", "NOUN", "PROPN", "VERB", "ADJ", "ADJ"]),
  )
  # Word 1 is a noun twice of three times, word 2 once of two, word 3 never, word 4 unseen.
  nouns = table.words_tagged({"NOUN", "PROPN"}, 5)
  np.testing.assert_array_equal(nouns, [False, True, False, False, False])
  with_adjectives = table.words_tagged({"NOUN", "PROPN", "ADJ"}, 5)
  np.testing.assert_array_equal(with_adjectives, [False, True, True, True, False])


def test_a_table_is_kept_and_read_anew_for_other_words(data, tmp_path, monkeypatch):
  split, path = data.split("train"), tmp_path / "captions.npz"
  vocabulary = data.build_vocabulary("captioner", 1)
  first = caption_table.open_or_read(path, split, vocabulary)
  monkeypatch.setattr(split, "record", None)  # The file is enough now.
  again = caption_table.open_or_read(path, split, vocabulary)
  np.testing.assert_array_equal(first.rows(9), again.rows(9))
  assert again.positions == first.positions
  monkeypatch.undo()
  fewer = data.build_vocabulary("captioner", 30)
  assert caption_table.open_or_read(path, split, fewer).ids.max() == fewer.unknown_id


def test_a_damaged_table_is_named(data, tmp_path):
  path = tmp_path / "captions.npz"
  path.write_bytes(b"PK\x03\x04 broken")
  with pytest.raises(errors.UserError, match=r"captions\.npz are damaged"):
    caption_table.open_or_read(path, data.split("train"), data.build_vocabulary("captioner", 1))


def test_captions_in_other_words_are_refused(data):
  split, vocabulary = data.split("train"), data.build_vocabulary("captioner", 1)
  table = caption_table.read(split, vocabulary)
  caption_table.check_known(table, vocabulary, "the start")
  stranger = dataclasses.replace(vocabulary, words=("", "hund", "katze", "UNK"))
  with pytest.raises(errors.UserError, match="the start knows 0% of the words"):
    caption_table.check_known(caption_table.read(split, stranger), stranger, "the start")
