"""Tests of trainers/demo.py: the program as a user runs it."""

import json
import re

import pytest
from PIL import Image

from export import saved_model
from gcap_tf.shipped import folders as shipped_folders
from tests.export import tiny_runs
from tests.serving import tiny_photographs
from tests.trainers import command_line
from trainers import demo


def check(done, out, pictures):
  assert done.returncode == 0, done.stderr[-3000:]
  assert f"{out}/index.html" in done.stdout
  assert "trainers.tensorboard --runs=" in done.stdout
  names = [f"scene_{number:02d}.png" for number in range(1, pictures + 1)]
  page = (out / "index.html").read_text()
  assert re.findall(r'src="(\w+\.png)"', page) == [*names, "attention.png"]
  assert Image.open(out / names[0]).width >= 320
  detections = json.loads((out / "detections.json").read_text())
  assert len(detections["images"]) == pictures
  assert all(row["category"] for row in detections["annotations"])
  assert len(json.loads((out / "samples" / "samples.json").read_text())) == pictures
  return page


def test_an_exported_captioner_of_labels_is_served_asked_and_shown(tmp_path):
  run = tiny_runs.captioner_run(tmp_path, feature_size=0, labelled=True)
  saved_model.export(run, tmp_path / "model", saved_model.ExportConfig(max_length=6))
  out = tmp_path / "demo"
  flags = (f"--out={out}", f"--model={tmp_path / 'model'}", "--pictures=2")
  page = check(command_line.run("trainers.demo", *flags), out, 2)
  assert "<table>" not in page, "figures of the shipped captioner beside answers of another"


def test_the_shipped_captioner_captions_photographs(tmp_path):
  if not shipped_folders.PHOTOGRAPHS.exists():
    pytest.skip("this tree has no shipped captioner of photographs")
  done = command_line.run("trainers.demo", f"--out={tmp_path}", "--pictures=2")
  assert done.returncode == 0, done.stderr[-3000:]
  rows = json.loads((tmp_path / "captions.json").read_text())
  assert len(rows) == 2
  assert all(len(row["words"]) > 3 and row["answered"] for row in rows), rows
  assert (tmp_path / "index.html").read_text().count("<figure") == 2


def test_figures_of_the_shipped_captioner_of_labels():
  if not shipped_folders.RUN.exists():
    pytest.skip("this tree has no shipped captioner")
  (title, _), rows = demo.shipped_figures()
  assert title.startswith("Scores on ")
  assert float(dict(rows)["CIDEr"]) > 50


def test_captioner_of_photographs_gets_photographs(tmp_path, monkeypatch):
  tiny_photographs.save(tmp_path / "model")
  pictures = tmp_path / "data" / "pictures"
  pictures.mkdir(parents=True)
  for name, color in (("a", "white"), ("b", "gray")):
    Image.new("RGB", (60, 40), color).save(pictures / f"{name}.jpg")
  monkeypatch.setenv("GCAP_DATA", str(tmp_path / "data"))
  out = tmp_path / "demo"
  done = command_line.run("trainers.demo", f"--out={out}", f"--model={tmp_path / 'model'}")
  assert done.returncode == 0, done.stderr[-3000:]
  assert "Picture a: a cup near the cup with a hat" in done.stdout
  assert f"{out}/index.html" in done.stdout
  rows = json.loads((out / "captions.json").read_text())
  assert [row["title"] for row in rows][-2:] == ["Picture a", "Picture b"]
  assert len(json.loads((out / "samples" / "samples.json").read_text())) == len(rows)
  assert "<figure" in (out / "index.html").read_text()
