"""Tests of gcap_tf/training/fine_tuning/reward_terms.py."""

import pickle

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data.prepared import prepared_data
from gcap_tf.runs import run_folders
from gcap_tf.training.fine_tuning import caption_table, reward_terms
from tests.training import fine_tuned, small_runs


@pytest.fixture(scope="module")
def place(tmp_path_factory):
  """A folder with data and a captioner."""
  folder = tmp_path_factory.mktemp("rewards")
  fine_tuned.captioner(folder / "start", small_runs.data(folder))
  return folder


def test_frequencies_are_counted_once_and_kept(place, tmp_path):
  split = prepared_data.PreparedData(place / "data").split("train")
  vocabulary = run_folders.load(place / "start").vocabulary
  table, stamp = caption_table.read(split, vocabulary), caption_table.mark(split, vocabulary)
  counted = reward_terms.frequencies(tmp_path, "", table, stamp)
  kept = reward_terms.frequencies(tmp_path, "", None, stamp)
  np.testing.assert_array_equal(counted.idf, kept.idf)
  with pytest.raises(errors.UserError, match="belong to vocabulary"):
    reward_terms.frequencies(tmp_path, "", table, "another-dataset")


def test_frequencies_of_another_program_are_read_and_those_of_other_data_refused(place, tmp_path):
  split = prepared_data.PreparedData(place / "data").split("train")
  table = caption_table.read(split, run_folders.load(place / "start").vocabulary)
  expected = table.document_frequency()

  def write(images, shift):
    grams = {}
    for key, count in zip(expected.keys.tolist(), expected.counts, strict=True):
      ids = []
      while key:
        ids.insert(0, (key & 0xFFFF) - 1)
        key >>= 16
      grams[tuple(str(n + shift if n else 0) for n in ids)] = float(count)
    path = tmp_path / f"other-{images}-{shift}-idxs.p"
    path.write_bytes(pickle.dumps({"document_frequency": grams, "ref_len": images}))
    return str(path)

  found = reward_terms.frequencies(tmp_path / "a", write(12, 0), table, "stamp")
  np.testing.assert_array_equal(found.idf, expected.idf)
  with pytest.raises(errors.UserError, match="count 999 pictures, the training split has 12"):
    reward_terms.frequencies(tmp_path / "b", write(999, 0), table, "stamp")
  with pytest.raises(errors.UserError, match="of the training captions' n-grams"):
    reward_terms.frequencies(tmp_path / "c", write(12, 40), table, "stamp")


def test_every_named_term_has_its_scorer(place, tmp_path):
  split = prepared_data.PreparedData(place / "data").split("train")
  start = run_folders.load(place / "start")
  table = caption_table.read(split, start.vocabulary)
  references = table.references(8)
  weights = {"bleu": 1.0, "matcher": 2.0, "cider": 1.0}
  found = reward_terms.terms(weights, references, tmp_path, "", start, split, table)
  assert set(found) == {"bleu", "cider"} and (tmp_path / "document_frequency.npz").exists()
  image, own = next(iter(references.items()))
  scores = found["bleu"].score(np.stack([own[0], np.zeros_like(own[0])]), [image, image])
  assert scores[0] > scores[1]
