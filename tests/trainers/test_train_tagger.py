"""The binary that trains the tagger, end to end on a few sentences."""

# bazel: data = ["//trainers:train_tagger"]

import json
import subprocess
import sys

import pytest

from gcap_tf.text import tagging

SENTENCES = [
  [("The", "the", "DET"), ("dog", "dog", "NOUN"), ("ran", "run", "VERB")],
  [("A", "a", "DET"), ("cat", "cat", "NOUN"), ("ran", "run", "VERB")],
  [("Two", "two", "NUM"), ("dogs", "dog", "NOUN"), ("sat", "sit", "VERB")],
]


@pytest.fixture
def treebank(tmp_path):
  text = "\n".join(
    "".join(
      f"{index}\t{form}\t{lemma}\t{tag}\t_\t_\t0\t_\t_\t_\n"
      for index, (form, lemma, tag) in enumerate(sentence, 1)
    )
    for sentence in SENTENCES
  )
  folder = tmp_path / "treebank"
  folder.mkdir()
  for part in ("train", "dev"):
    (folder / f"en-ud-{part}.conllu").write_text(text)
  return folder


def _run(*arguments: str) -> subprocess.CompletedProcess:
  return subprocess.run(
    [sys.executable, "-m", "trainers.train_tagger", *arguments],
    capture_output=True,
    encoding="utf-8",
    check=False,
  )


def test_it_writes_a_tagger_a_table_of_lemmas_and_scores(tmp_path, treebank):
  entities = tmp_path / "entities"
  (entities / "Sentences").mkdir(parents=True)
  (entities / "Sentences/1.txt").write_text("[/EN#1/people A man] ran .\n")
  (entities / "Sentences/2.txt").write_text("[/EN#1/animals The dog] ran .\n")
  (tmp_path / "hand.json").write_text(json.dumps([["1", 0, "DNV"]]))
  result = _run(
    f"--ewt={treebank}",
    f"--entities={entities}",
    f"--hand_tags={tmp_path / 'hand.json'}",
    f"--out={tmp_path / 'tagger'}",
    "--epochs=60",
    "--width=16",
    "--depth=1",
  )
  assert result.returncode == 0, result.stderr
  scores = json.loads(result.stdout.splitlines()[-1])
  assert scores["ewt_dev_accuracy"] == 1.0
  assert scores["captions"] == 1
  assert json.loads((tmp_path / "tagger/accuracy.json").read_text()) == scores
  assert (tmp_path / "tagger/lemmas.tsv").read_text() == "ran\tVERB\trun\n"
  tagger = tagging.load_tagger(str(tmp_path / "tagger"))
  assert tagger.tag([["the", "dog", "ran"]]) == [["DET", "NOUN", "VERB"]]


def test_a_folder_without_a_treebank_ends_in_one_line(tmp_path):
  result = _run(f"--ewt={tmp_path}", f"--out={tmp_path / 'tagger'}")
  assert result.returncode == 1
  assert result.stderr.splitlines()[-1].startswith("error: ")
  assert "Traceback" not in result.stderr
