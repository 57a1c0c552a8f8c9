"""Tests of gcap_tf/evaluation/evaluators/self_retrieval.py."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.captioners import likelihood
from gcap_tf.data.prepared import pipeline, prepared_data
from gcap_tf.evaluation.evaluators import self_retrieval
from gcap_tf.metrics import self_retrieval as metric
from gcap_tf.runs import run_folders
from tests.evaluation.evaluators import subjects
from tests.training import fine_tuned, small_runs


@pytest.fixture(scope="module")
def place(tmp_path_factory):
  folder = tmp_path_factory.mktemp("self_retrieval")
  fine_tuned.captioner(folder / "run", small_runs.data(folder, train=21, val=2))
  return folder


def tokens_of(split, vocabulary, chosen):
  captions = [split.record(n).captions[0].tokens for n in chosen]
  return self_retrieval.rows_of(captions, vocabulary.ids)


@pytest.mark.parametrize("rows", [1024, 8])
def test_blocks_and_groups_give_the_scores_of_single_pairs(place, tmp_path, rows):
  run = run_folders.load(place / "run")
  split = prepared_data.PreparedData(place / "data").split("train")
  chosen = self_retrieval.choose(len(split), 18)
  tokens = tokens_of(split, run.vocabulary, chosen)
  found = self_retrieval.score_all(run, split, chosen, tokens, tmp_path, rows)
  (batch,) = pipeline.evaluation_batches(
    split, run.vocabulary, pipeline.BatchConfig(images=21, shuffle=False), ("regions",)
  )
  memory = {name: tensor.numpy()[chosen] for name, tensor in run.model.encode(batch).items()}
  expected = likelihood.caption_log_probs(run.model, memory, np.tile(tokens, [18, 1]))
  np.testing.assert_allclose(found, expected.numpy().reshape(18, 18), rtol=1e-4)
  assert len(list(tmp_path.iterdir())) == 2


def test_a_stopped_run_goes_on_with_the_blocks_that_are_there(place, tmp_path, monkeypatch):
  run = run_folders.load(place / "run")
  split = prepared_data.PreparedData(place / "data").split("train")
  chosen = np.arange(20)
  tokens = tokens_of(split, run.vocabulary, chosen)
  whole = self_retrieval.score_all(run, split, chosen, tokens, tmp_path)
  (tmp_path / "pictures-000016.npy").unlink()
  scored = []
  scores = metric.PairScorer.scores

  def count(self, batch, tree):
    scored.append(len(batch["region_mask"]))
    return scores(self, batch, tree)

  monkeypatch.setattr(metric.PairScorer, "scores", count)
  again = self_retrieval.score_all(run, split, chosen, tokens, tmp_path)
  np.testing.assert_allclose(whole, again, atol=1e-5)  # Products may round by batch.
  assert sum(scored) == 4


def test_the_same_pictures_are_chosen_for_every_model():
  assert self_retrieval.choose(100, 5).tolist() == self_retrieval.choose(100, 5).tolist()
  assert self_retrieval.choose(3, 5).tolist() == [0, 1, 2]


def test_fingerprints_tell_weights_and_captions_apart(place):
  run = run_folders.load(place / "run")
  split = prepared_data.PreparedData(place / "data").split("train")
  ids, tokens = split.image_ids[:3], np.ones([3, 4], np.int32)
  marks = {self_retrieval.fingerprint(run.model, ids, tokens, split)}
  marks.add(self_retrieval.fingerprint(run.model, ids, 2 * tokens, split))
  marks.add(self_retrieval.fingerprint(run.model, ids[::-1], tokens, split))
  run.model.variables[0].assign(run.model.variables[0] + 1)
  marks.add(self_retrieval.fingerprint(run.model, ids, tokens, split))
  assert len(marks) == 4


def test_one_picture_is_refused(place):
  with pytest.raises(errors.UserError, match="needs 2 pictures or more, not 1"):
    self_retrieval.evaluate(None, None, [], 1)


def test_captions_add_up_to_recalls(tmp_path):
  subject = subjects.captioner(tmp_path, self_retrieval=5, statistics=True)
  report = self_retrieval.SelfRetrieval().run(subject)
  assert "self_retrieval_500" in report.statistics
  for name, found in report.statistics.items():
    assert found.value == pytest.approx(report.values[name]), name
