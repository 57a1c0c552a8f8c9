# bazel: data = ["//trainers:score_grounding"]

import json

import pytest

from tests.metrics import grounding_oracle as oracle
from tests.trainers import command_line

NOTHING = {"clss": [], "idx_in_sent": [], "bbox": []}


def run(*flags):
  done = command_line.run("trainers.score_grounding", *flags)
  return done.returncode, done.stdout, done.stderr


@pytest.fixture
def evaluation(tmp_path):
  """Files of a random evaluation: (flags, annotations, results) for a mode."""

  def write(mode, **changes):
    references, submission = oracle.random_evaluation(4, mode)
    words = {word: oracle.lemma(word) for word in oracle.WORDS}
    value = {"results": submission["results"], "eval_mode": mode} | changes
    flags = []
    for name, content in (
      ("references", references),
      ("predictions", value),
      ("lemmas", words),
    ):
      path = tmp_path / f"{name}.json"
      path.write_text(json.dumps(content))
      flags.append(f"--{name}={path}")
    return flags, references["annotations"], value["results"]

  return write


def test_the_last_line_is_the_official_figures_of_generated_sentences(evaluation):
  flags, annotations, results = evaluation("gen")
  code, out, _ = run(*flags)
  assert code == 0
  values = json.loads(out.splitlines()[-1])
  for mode in ("all", "loc"):
    expected = oracle.generated(annotations, results, mode)
    found = [values[f"{name}_{mode}"] for name in ("precision", "recall", "f1")]
    assert found == pytest.approx(expected, abs=1e-9)
  assert values["eval_mode"] == "gen"
  assert "lemmas.json" in values["lemmas"]
  assert "lemmas:" in out and "hallucinated class" in out


def test_given_sentences_and_a_split(evaluation, tmp_path):
  flags, annotations, results = evaluation("GT")
  code, out, _ = run(*flags)
  assert code == 0
  accuracy = json.loads(out.splitlines()[-1])["attention_accuracy"]
  assert accuracy == pytest.approx(oracle.given_sentences(annotations, results), abs=1e-9)
  splits = tmp_path / "splits.json"
  splits.write_text(json.dumps({"test": ["0"]}))
  code, out, _ = run(*flags, f"--split_ids={splits}", "--split=test")
  accuracy = json.loads(out.splitlines()[-1])["attention_accuracy"]
  assert accuracy == pytest.approx(oracle.given_sentences(annotations[:1], results), abs=1e-9)


def test_what_goes_wrong_is_one_line_and_exit_code_one(evaluation):
  flags, _, _ = evaluation("gen", results={"other1": [], "other2": []})
  code, out, err = run(*flags)
  assert (code, out) == (1, "")
  assert "predictions.json, image other1: expected a list" in err
  flags, _, _ = evaluation("gen", results={"stranger": [NOTHING]})
  code, _, err = run(*flags)
  assert code == 1
  assert "predictions have stranger, references have 0, 1" in err
  assert len(err.strip().splitlines()) == 1
  code, _, err = run(*flags, "--split=test")
  assert code == 1
  assert "--split_ids and --split go together" in err
