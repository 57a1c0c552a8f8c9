import json

import pytest

from gcap_tf import errors
from gcap_tf.metrics import score_files
from tests.metrics import anet_oracle, grounding_oracle


@pytest.fixture
def config(tmp_path):
  """Writes JSON files and names them in a config."""

  def make(**values):
    paths = {}
    for name, value in values.items():
      path = tmp_path / f"{name}.json"
      path.write_text(json.dumps(value))
      paths[name] = str(path)
    return score_files.ScoreConfig(**paths)

  return make


LEMMAS = {word: grounding_oracle.lemma(word) for word in grounding_oracle.WORDS}


def test_videos_are_known_by_their_schema(config):
  references, submission = anet_oracle.random_evaluation(5)
  generated = config(
    references=references, predictions=submission | {"eval_mode": "gen"}, lemmas=LEMMAS
  )
  report = score_files.score(generated)
  expected = anet_oracle.generated(references["annotations"], submission["results"], "loc")
  names = [f"{n}_loc{end}" for end in ("", "_per_sentence") for n in ("precision", "recall", "f1")]
  assert [report.values[name] for name in names] == pytest.approx(expected)
  assert "annotated segments" in report.text and "lemmas.json" in report.text
  given = config(references=references, predictions=submission | {"eval_mode": "GT"})
  accuracy = score_files.score(given).values["attention_accuracy"]
  assert accuracy == pytest.approx(
    anet_oracle.given_sentences(references["annotations"], submission["results"])
  )


def test_videos_must_say_their_mode(config):
  references, submission = anet_oracle.random_evaluation(5)
  with pytest.raises(errors.UserError, match='no "eval_mode"'):
    score_files.score(config(references=references, predictions=submission))


def test_training_references_order_the_classes(config):
  references, submission = grounding_oracle.random_evaluation(4, "gen")
  files = {"references": references, "predictions": submission, "lemmas": LEMMAS}
  caption = {
    "tokens": [],
    "process_idx": [0],
    "process_clss": ["dog"],
    "process_bnd_box": [[0, 0, 1, 1]],
  }
  training = {"annotations": [{"image_id": 1, "captions": [caption]}]}
  plain = score_files.score(config(**files))
  ordered = score_files.score(config(**files, train_references=training))
  groups = [{k for k in found.values if "_classes_" in k} for found in (plain, ordered)]
  assert groups[0] != groups[1]  # most classes were never seen in training
  rest = [{k: v for k, v in f.values.items() if "_classes_" not in k} for f in (plain, ordered)]
  assert rest[0] == rest[1]
  assert plain.text != ordered.text


def test_pictures_outside_the_split_are_not_even_checked(config, tmp_path):
  references, submission = grounding_oracle.random_evaluation(4, "GT")
  annotations = references["annotations"]
  broken = {"annotations": [*annotations, {"image_id": 99, "captions": "none"}]}
  made = config(references=broken, predictions=submission)
  splits = tmp_path / "splits.json"
  ids = [str(entry["image_id"]) for entry in annotations]
  splits.write_text(json.dumps({"val": ids, "test": ["x"]}))
  with pytest.raises(errors.UserError, match="image 99"):
    score_files.score(made)

  def scored(split):
    flags = (made.predictions, made.references, str(splits), split)
    return score_files.score(score_files.ScoreConfig(*flags))

  expected = grounding_oracle.given_sentences(annotations, submission["results"])
  assert scored("val").values["attention_accuracy"] == pytest.approx(expected)
  with pytest.raises(errors.UserError, match=r"json has 0, 1, 2, split test has x"):
    scored("test")


def test_splits_need_both_flags_and_known_videos(config, tmp_path):
  references, submission = anet_oracle.random_evaluation(5)
  made = config(references=references, predictions=submission | {"eval_mode": "GT"})
  splits = tmp_path / "splits.json"
  splits.write_text(json.dumps({"val": ["v_none"], "train": ["v_0"]}))
  with pytest.raises(errors.UserError, match="go together"):
    score_files.score(score_files.ScoreConfig(made.predictions, made.references, str(splits)))
  with pytest.raises(errors.UserError, match=r"json has v_0.*, split val has v_none"):
    score_files.score(
      score_files.ScoreConfig(made.predictions, made.references, str(splits), "val")
    )
  report = score_files.score(
    score_files.ScoreConfig(made.predictions, made.references, str(splits), "train")
  )
  first = {"v_0": references["annotations"]["v_0"]}
  expected = anet_oracle.given_sentences(first, submission["results"])
  assert report.values["attention_accuracy"] == pytest.approx(expected)
