"""Tests of trainers/caption.py: the program as a user runs it."""

import json

from gcap_tf.runs import packed_run, run_folders
from gcap_tf.text import vocabulary
from tests.evaluation import test_region_captioning
from tests.export import picture_captioner, tiny_runs
from tests.trainers import command_line
from tests.training import small_runs
from tests.vision import picture_files

CAPTION = "trainers.caption"


def test_a_folder_of_regions_becomes_grounded_captions(tmp_path):
  test_region_captioning.write_store(tmp_path / "store")
  words = vocabulary.Vocabulary.build([["a", "dog", "sees", "men"]], "captioner", 1)
  options = {**small_runs.CAPTIONER_SIZES, "vocabulary_size": words.size, "feature_size": 4}
  model = run_folders.make_model("captioner", "updown", options)
  run_folders.save(tmp_path / "run", "captioner", "updown", model, words)
  flags = (f"--run={tmp_path / 'run'}", f"--out={tmp_path / 'out.json'}")
  done = command_line.run(CAPTION, *flags, f"--regions={tmp_path / 'store'}", "--decode=beam")
  assert done.returncode == 0, done.stderr[-2000:]
  rows = json.loads((tmp_path / "out.json").read_text())
  assert [row["image_id"] for row in rows] == ["0", "1", "2"]
  assert len(rows[0]["words"]) == len(rows[0]["box_index"]) == len(rows[0]["boxes"])
  refused = command_line.run(CAPTION, *flags, f"--regions={tmp_path / 'nothing'}")
  assert str(tmp_path / "nothing") in command_line.error(refused)


def test_what_a_detector_wrote_becomes_grounded_captions_with_a_packed_run(tmp_path):
  run = tiny_runs.captioner_run(tmp_path, feature_size=0, labelled=True)
  run_folders.save(tmp_path / "run", "captioner", "updown", run.model, run.vocabulary)
  packed_run.pack(tmp_path / "run", tmp_path / "packed")
  rows = [
    {"image_id": 9, "bbox": [5, 5, 50, 90], "category": "Men", "score": 0.9},
    {"image_id": 9, "bbox": [40, 5, 50, 90], "category": "sofa", "score": 0.8},
    {"image_id": 9, "bbox": [40, 5, 50, 90], "category": "dog", "score": 0.2},
  ]
  (tmp_path / "detections.json").write_text(json.dumps(rows))
  labels = f"--labels={tmp_path / 'detections.json'}"
  flags = (CAPTION, f"--run={tmp_path / 'packed'}", f"--out={tmp_path / 'out.json'}")
  commands = [
    (*flags, labels, "--image_size=100x100"),
    (*flags, labels, "--image_size=100"),
    flags,
    (*flags, labels, f"--regions={tmp_path}"),
  ]
  done, no_size, nothing, both = command_line.run_many(commands)
  assert done.returncode == 0, done.stderr[-2000:]
  assert "1 of 2 regions have a label that the run does not know" in done.stderr
  assert "sofa 1" in done.stderr and "1 of 3 detections dropped" in done.stderr
  (row,) = json.loads((tmp_path / "out.json").read_text())
  assert row["image_id"] == "9" and row["words"]
  assert done.stdout.startswith("1 picture captioned; written to ")
  assert len(row["labels"]) == len(row["boxes"]) == len(row["words"])
  assert set(row["labels"]) <= {"Men", "sofa"}
  assert "expected WIDTHxHEIGHT, as 640x480" in command_line.error(no_size)
  for refused in (nothing, both):
    assert "give one of --pictures=PHOTOS, --video=CLIP, --labels=" in command_line.error(refused)


def test_photographs_become_grounded_captions(tmp_path):
  run = picture_captioner.write(tmp_path)
  good, bad = tmp_path / "good.jpg", tmp_path / "bad.jpg"
  good.write_bytes(picture_files.samples()["jpeg"])
  bad.write_bytes(b"hello")
  flags = (CAPTION, f"--run={run}")
  done, printed, refused = command_line.run_many(
    [
      (*flags, f"--pictures={good},{bad}", f"--out={tmp_path / 'out.json'}"),
      (*flags, str(good)),
      (*flags, f"--pictures={tmp_path / 'nothing'}"),
    ]
  )
  assert done.returncode == 1, "a damaged file makes the exit code 1"
  assert f"error: {bad}: not a picture" in done.stderr
  (row,) = json.loads((tmp_path / "out.json").read_text())
  assert row["image_id"] == "good" and len(row["boxes"]) == len(row["words"]) > 0
  assert printed.returncode == 0 and printed.stdout.startswith(f"good: {row['caption']}")
  assert "nothing do not exist" in command_line.error(refused)
