"""From checkpoint files to a run folder that scores the same."""

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.training import imports, runs
from tests.interop import checkpoint_files
from tests.interop import test_matcher_checkpoints as examples


def import_all(paths, folder, family="scan"):
  return imports.import_files(
    family, paths["weights"], paths["options"], paths["vocab"], folder / "run"
  )


@pytest.mark.parametrize("family", ["scan", "bfan", "pfan", "sgraf"])
def test_a_run_folder_scores_as_the_imported_weights(family, tmp_path):
  paths, options, weights = checkpoint_files.write(tmp_path, family)
  assert import_all(paths, tmp_path, family)[0] == family
  loaded = runs.load(tmp_path / "run", "matcher")
  assert loaded.config["imported"]["family"] == family
  batch, model = examples.batch(), loaded.model
  scores = model.similarity(model.encode_images(batch), model.encode_captions(batch)).numpy()
  expected = examples.imported(family, options, weights)[1]
  np.testing.assert_allclose(scores, expected, atol=1e-6)


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
