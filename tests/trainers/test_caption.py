"""Tests of trainers/caption.py: the program as a user runs it."""

import json

from gcap_tf.text import vocabulary
from gcap_tf.training import runs
from tests.trainers import command_line
from tests.training import small_runs, test_region_captioning

CAPTION = "trainers.caption"


def test_a_folder_of_regions_becomes_grounded_captions(tmp_path):
  test_region_captioning.write_store(tmp_path / "store")
  words = vocabulary.Vocabulary.build([["a", "dog", "sees", "men"]], "captioner", 1)
  options = {**small_runs.CAPTIONER_SIZES, "vocabulary_size": words.size, "feature_size": 4}
  model = runs.make_model("captioner", "updown", options)
  runs.save(tmp_path / "run", "captioner", "updown", model, words)
  flags = (f"--run={tmp_path / 'run'}", f"--out={tmp_path / 'out.json'}")
  done = command_line.run(CAPTION, *flags, f"--regions={tmp_path / 'store'}", "--decode=beam")
  assert done.returncode == 0, done.stderr[-2000:]
  rows = json.loads((tmp_path / "out.json").read_text())
  assert [row["image_id"] for row in rows] == ["0", "1", "2"]
  assert len(rows[0]["words"]) == len(rows[0]["box_index"]) == len(rows[0]["boxes"])
  refused = command_line.run(CAPTION, *flags, f"--regions={tmp_path / 'nothing'}")
  assert str(tmp_path / "nothing") in command_line.error(refused)
