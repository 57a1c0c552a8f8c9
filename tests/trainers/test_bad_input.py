"""What does not fit together ends every program in one line that says what and where."""

import json
import re
import shutil

import numpy as np

from gcap_tf.runs import run_folders
from tests.data import make_records
from tests.interop import checkpoint_files
from tests.trainers import command_line
from tests.training import small_runs

EVALUATE = "trainers.evaluate_matcher"


def save_matcher(folder, data, name="scan"):
  vocabulary = data.build_vocabulary("matcher", 1)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  model = run_folders.make_model("matcher", name, {**small_runs.MATCHER_SIZES, **sizes})
  run_folders.save(folder, "matcher", name, model, vocabulary)
  return folder


def save_captioner(folder, data):
  vocabulary = data.build_vocabulary("captioner", 1)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  model = run_folders.make_model("captioner", "updown", {**small_runs.CAPTIONER_SIZES, **sizes})
  run_folders.save(folder, "captioner", "updown", model, vocabulary)
  return folder


def change_options(run):
  path = run / "config.json"
  config = json.loads(path.read_text())
  config["model_config"]["joint_size"] += 1
  del config["checksum"]
  path.write_text(json.dumps(config))


def precomp(folder, captions, features=8):
  folder.mkdir()
  np.save(folder / "test_ims.npy", np.ones([2, 3, features], np.float32))
  lines = "a red cat sees a dog\n" * captions
  (folder / "test_caps.txt").write_text(lines)
  (folder / "test_precaps.txt").write_text("1,4,2\n" * captions)
  return folder


def imported(folder, change):
  """Flags of an import whose weights, or vocabulary, were changed."""
  folder.mkdir()
  paths, _, weights = checkpoint_files.write(folder, "scan")
  weights = dict(weights)
  change(weights)
  np.savez(paths["weights"], **weights)
  flags = [f"--{name}={path}" for name, path in paths.items()]
  return ["trainers.import_checkpoint", "--family=scan", f"--out={folder / 'run'}", *flags]


def wrong_shape(weights):
  weights["img_enc.fc.bias"] = weights["img_enc.fc.bias"][:-1]


def fewer_words(weights):
  weights["txt_enc.embed.weight"] = weights["txt_enc.embed.weight"][:-1]


def cases(folder):
  """(flags, what the line must say)."""
  data = small_runs.data(folder, train=3, val=2)
  wide = make_records.prepare_small(folder / "wide", train=2, val=1, feature_size=9)
  labels = make_records.prepare_small(folder / "labels", train=2, val=1, feature_size=0)
  run = save_matcher(folder / "run", data)
  bfan = save_matcher(folder / "bfan", data, "bfan")
  captioner = save_captioner(folder / "captioner", data)
  other, resized = folder / "other", folder / "resized"
  for copy in (other, resized):
    shutil.copytree(run, copy)
  data.build_vocabulary("matcher", 12).save(other / "vocabulary.json")
  change_options(resized)
  cut, wrong = precomp(folder / "cut", 9), precomp(folder / "wrong", 10, features=9)

  def on(name, program=EVALUATE, what=f"--data={folder / 'data'}"):
    return [program, f"--run={name}", what, "--split=val"]

  caption = "trainers.evaluate_captioner"
  return [
    (on(other), r"other/vocabulary\.json is not the vocabulary that this run was trained with"),
    (on(resized), r"resized/checkpoints/best does not fit the model .*kernel is \["),
    (on(captioner), r"captioner holds a captioner \(updown\), not a matcher"),
    (on(run, what=f"--data={wide.folder}"), r"wide has regions of 9 features.* trained on 8"),
    (on(captioner, caption, f"--data={wide.folder}"), "wide has regions of 9 features"),
    (
      [EVALUATE, f"--run={run}", f"--precomp={wrong}"],
      r"test_ims\.npy has regions of 9 features, .*run was trained on 8",
    ),
    (
      [EVALUATE, f"--run={run}", f"--precomp={cut}"],
      r"test_caps\.txt has 9 lines, but test_ims has 2 rows; .*\(5 would be 10\)",
    ),
    ([EVALUATE, f"--run={bfan}", f"--precomp={cut}"], r"test_precaps\.txt has 9 lines"),
    (imported(folder / "a", lambda w: w.pop("img_enc.fc.bias")), r"weights lack img_enc\.fc\.bias"),
    (
      imported(folder / "b", lambda w: w.update(junk=np.ones(2))),
      r"b/weights\.npz: weights have junk",
    ),
    (
      imported(folder / "c", wrong_shape),
      r"c/weights\.npz: img_enc\.fc\.bias has shape \(7,\) but .* ask for \(8,\)",
    ),
    (imported(folder / "d", fewer_words), r"embed\.weight has \d+ rows but the vocabulary has"),
    (
      ["trainers.train_captioner", "--recipe=updown_distill_f30k", f"--run={folder / 'new'}"],
      "name its run folder, --teacher=RUN",
    ),
    (
      [
        "trainers.train_matcher",
        "--model=vsepp",
        f"--data={labels.folder}",
        f"--run={folder / 'new'}",
      ],
      "labels has regions without features; vsepp needs them",
    ),
  ]


def test_every_fault_is_one_line_that_says_what_and_where(tmp_path):
  commands, messages = zip(*cases(tmp_path), strict=True)
  for done, message in zip(command_line.run_many(commands), messages, strict=True):
    line = command_line.error(done)
    assert re.search(message, line), line
  assert not (tmp_path / "a" / "run").exists()
