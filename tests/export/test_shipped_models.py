import pytest

import gcap_tf
from export import shipped_models
from gcap_tf.shipped import folders
from serving import free_photographs

pytestmark = pytest.mark.skipif(
  not (folders.PHOTOGRAPHS / "config.json").exists(), reason="this tree has no shipped captioner"
)


def test_the_captioner_of_labels_is_in_the_package():
  assert shipped_models.base_path(folders.LABELS) == folders.MODEL


def test_the_captioner_of_photographs_is_exported_once_and_answers_as_its_run(
  tmp_path, monkeypatch
):
  monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
  exported = shipped_models.base_path()
  assert exported.is_relative_to(tmp_path) and (exported / "1" / "MODEL_CARD.md").exists()
  written = (exported / "1" / "saved_model.pb").stat().st_mtime_ns
  assert shipped_models.base_path() == exported
  assert (exported / "1" / "saved_model.pb").stat().st_mtime_ns == written
  # Drawn noise would do less: its answers are so unsure that rounding decides them.
  photographs = list(free_photographs.find().values())
  answers = [gcap_tf.load(folder).caption(photographs) for folder in ("shipped", exported)]
  assert sum(answer.answered for answer in answers[0]) >= 3
  for run, saved in zip(*answers, strict=True):
    assert (run.caption, run.answered) == (saved.caption, saved.answered)


def test_another_program_or_other_weights_get_a_folder_of_their_own(tmp_path, monkeypatch):
  before = shipped_models._fingerprint()
  (tmp_path / "gcap_tf").mkdir()
  (tmp_path / "gcap_tf" / "changed.py").write_text("")
  monkeypatch.setattr(shipped_models, "_TOP", tmp_path)
  other_program = shipped_models._fingerprint()
  (tmp_path / "gcap_tf" / "changed.py").write_text("x = 1")
  assert len({before, other_program, shipped_models._fingerprint()}) == 3
