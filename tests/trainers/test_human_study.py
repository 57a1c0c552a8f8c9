"""Tests of trainers/human_study.py: the program as a user runs it."""

import json

import numpy as np

from gcap_tf.metrics import results_io
from tests.trainers import command_line
from tests.training import small_runs

STUDY = "trainers.human_study"


def test_a_study_is_made_and_summarised(tmp_path):
  data = small_runs.data(tmp_path)
  split = data.split("val")
  records = [split.record(n) for n in range(len(split))]
  for name, left in (("first", 0), ("second", 5)):
    box = np.array([left, 0, left + 4, 8], np.float32)
    predictions = {
      record.image_id: [
        results_io.predicted_caption(
          ["dog"] * len(caption.tokens), np.stack([box] * len(caption.tokens))
        )
        for caption in record.captions
      ]
      for record in records
    }
    results_io.write_submission(tmp_path / f"{name}.json", predictions, "GT")
  out = tmp_path / "study"
  given = (
    f"--first={tmp_path / 'first.json'}", f"--second={tmp_path / 'second.json'}", f"--out={out}",
    f"--data={tmp_path / 'data'}", "--raters=2", "--images=3", "--names=Baseline,Cyclical",
  )  # fmt: skip
  assert "words of 3 pictures, 2 raters" in command_line.run(STUDY, *given).stdout
  item = json.loads((out / "study.json").read_text())["items"][0]
  answer = {"item": item["key"], "rater": 1, "answer": "equal"}
  (out / "answers.jsonl").write_text(json.dumps(answer) + "\n")
  done = command_line.run(STUDY, "--summarise", f"--out={out}")
  assert "| About equal | 100.0 |" in done.stdout
  assert json.loads(done.stdout.splitlines()[-1])["ratings"] == 1
  again = command_line.run(STUDY, *given)
  assert "has answers already" in command_line.error(again)


def test_missing_predictions_are_one_line(tmp_path):
  done = command_line.run(STUDY, f"--out={tmp_path}")
  assert "give --first and --second" in command_line.error(done)
