import pytest

from serving import page_data, status
from tests.serving import tiny_models


def test_labels_of_a_version_are_named_with_their_other_names(tmp_path):
  tiny_models.save_namer(tmp_path, ("man", "dog"))
  names = page_data.known_labels(tmp_path / "1")
  assert names["dog"] == "dog"
  assert names["puppy"] == "dog"
  assert "spaceship" not in names


def test_version_without_a_vocabulary_has_no_list(tmp_path):
  assert page_data.known_labels(tmp_path) is None


def test_path_names_a_model_and_a_version():
  spec = page_data.labels_spec("/page/labels/captioner/12.json")
  assert (spec.name, spec.version.value) == ("captioner", 12)
  for path in ("/page/labels/captioner", "/page/labels/a/b.json", "/page/labels/../1.json/x"):
    with pytest.raises(status.ServingError):
      page_data.labels_spec(path)
