"""From checkpoint files to a run folder that scores the same."""

import json

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.evaluation import captioner_evaluation, precomp_evaluation
from gcap_tf.interop import imported_runs
from gcap_tf.runs import run_folders
from tests import updown_oracle
from tests.interop import checkpoint_files
from tests.interop import official_matchers as official
from tests.interop import test_matcher_checkpoints as examples


def import_all(paths, folder, family="scan"):
  return imported_runs.import_files(
    family, paths["weights"], paths["options"], paths["vocab"], folder / "run"
  )


@pytest.mark.parametrize("family", ["scan", "bfan", "pfan", "sgraf"])
def test_a_run_folder_scores_as_the_imported_weights(family, tmp_path):
  paths, options, weights = checkpoint_files.write(tmp_path, family)
  assert import_all(paths, tmp_path, family)[0] == family
  loaded = run_folders.load(tmp_path / "run", "matcher")
  assert loaded.config["imported"]["family"] == family
  batch, model = examples.batch(), loaded.model
  scores = model.similarity(model.encode_images(batch), model.encode_captions(batch)).numpy()
  expected = examples.imported(family, options, weights)[1]
  np.testing.assert_allclose(scores, expected, atol=1e-6)


def precomp_folder(folder):
  """Two pictures of five captions each, with Penn tags."""
  random = np.random.default_rng(0)
  np.save(folder / "test_ims.npy", random.normal(size=(2, 36, 9)).astype(np.float32))
  captions = [[f"w{n}" for n in random.integers(0, 8, random.integers(2, 6))] for _ in range(10)]
  tags = [["NN" if word in ("w1", "w4", "w6") else "DT" for word in words] for words in captions]
  for name, rows in (("caps", captions), ("tags", tags)):
    text = "".join(" ".join(row) + "\n" for row in rows)
    (folder / f"test_{name}.txt").write_text(text)
  return captions, tags


@pytest.mark.parametrize(
  ("family", "extra"),
  [("scan", {}), ("scan", {"pos": True}), ("bfan", {}), ("sgraf", {"module_name": "SAF"})],
)
def test_a_precomp_folder_scores_as_in_the_official_program(family, extra, tmp_path):
  paths, options, weights = checkpoint_files.write(tmp_path, family, **extra)
  import_all(paths, tmp_path, family)
  captions, tags = precomp_folder(tmp_path)
  features = np.load(tmp_path / "test_ims.npy").astype(float)
  _, scores = precomp_evaluation.evaluate_runs([str(tmp_path / "run")], tmp_path, "test")
  rnn = "cap_rnn" if family == "sgraf" else "rnn"
  for c, words in enumerate(captions):
    e = official.words(weights, options, examples.VOCABULARY.encode(words), rnn)
    nouns = [n + 1 for n, tag in enumerate(tags[c]) if tag == "NN"] if extra.get("pos") else None
    for i in range(2):
      v = official.regions(weights, options, features[i])
      expected, _ = {
        "scan": lambda v=v, e=e, nouns=nouns: official.scan(options, v, e, nouns),
        "bfan": lambda v=v, e=e: official.bfan(options, v, e),
        "sgraf": lambda v=v, e=e: official.sgraf(weights, options, v, e),
      }[family]()
      np.testing.assert_allclose(scores[i, c], expected, atol=1e-4)


@pytest.mark.parametrize(("extra", "style"), [({}, "treebank"), ({"pos": False}, "whitespace")])
def test_the_program_with_an_option_pos_splits_captions_at_white_space(extra, style, tmp_path):
  paths, *_ = checkpoint_files.write(tmp_path, "scan", **extra)
  import_all(paths, tmp_path, "scan")
  assert run_folders.load(tmp_path / "run", "matcher").config["tokenizer"] == style


def test_captions_are_as_long_as_the_program_was_told(tmp_path):
  np.savez(tmp_path / "weights.npz", **updown_oracle.make_weights(np.random.default_rng(0)))
  (tmp_path / "options.json").write_text('{"max_length": 9}')
  words = {str(n): f"w{n}" for n in range(1, 11)}
  (tmp_path / "vocab.json").write_text(json.dumps(words))
  paths = {name: tmp_path / f"{name}{end}" for name, end in checkpoint_files.ENDINGS.items()}
  import_all(paths, tmp_path, "updown")
  assert captioner_evaluation.max_length(run_folders.load(tmp_path / "run", "captioner")) == 9


def test_a_file_that_is_no_archive_is_refused_in_one_line(tmp_path):
  paths, _, _ = checkpoint_files.write(tmp_path)
  for content in (b"not an archive", b""):
    paths["weights"].write_bytes(content)
    with pytest.raises(errors.UserError, match=r"are not a numpy\.savez file"):
      import_all(paths, tmp_path)
  with paths["weights"].open("wb") as file:
    np.save(file, np.zeros(3))
  with pytest.raises(errors.UserError, match="a single array"):
    import_all(paths, tmp_path)


def test_missing_files_are_named(tmp_path):
  paths, _, _ = checkpoint_files.write(tmp_path)
  with pytest.raises(errors.UserError, match="do not exist"):
    import_all({**paths, "weights": tmp_path / "nowhere.npz"}, tmp_path)
  with pytest.raises(errors.UserError, match=r"options .*nowhere\.json does not exist"):
    import_all({**paths, "options": tmp_path / "nowhere.json"}, tmp_path)


def test_options_must_be_an_object(tmp_path):
  paths, _, _ = checkpoint_files.write(tmp_path)
  paths["options"].write_text("[1, 2]")
  with pytest.raises(errors.UserError, match="must be a JSON object"):
    import_all(paths, tmp_path)


def test_an_import_replaces_an_imported_run_alone(tmp_path):
  paths, _, _ = checkpoint_files.write(tmp_path, "scan")
  for _ in range(2):
    import_all(paths, tmp_path)
  (tmp_path / "run" / "config.json").write_text('{"kind": "captioner", "training": {}}')
  with pytest.raises(errors.UserError, match="which would be lost"):
    import_all(paths, tmp_path)
  assert "captioner" in (tmp_path / "run" / "config.json").read_text()
  assert not list(tmp_path.glob(".run.*"))
