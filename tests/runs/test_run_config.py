import pytest

from gcap_tf import errors, files
from gcap_tf.runs import run_config


def test_a_configuration_is_read_as_it_was_written(tmp_path):
  config = {"kind": "matcher", "model": "scan", "more": [1]}
  files.write_sealed_json(tmp_path / "config.json", config)
  assert run_config.read(tmp_path) == config


@pytest.mark.parametrize(
  "content, message",
  [
    (None, "is not a run folder: it has no config.json"),
    (["matcher"], "is not an object"),
    ({"model": "scan"}, 'it has no "kind"'),
    ({"kind": "matcher"}, 'it has no "model"'),
  ],
)
def test_a_folder_that_describes_no_run_is_refused(tmp_path, content, message):
  if content is not None:
    files.write_json(tmp_path / "config.json", content)
  with pytest.raises(errors.UserError, match=message):
    run_config.read(tmp_path)


def test_a_reader_names_what_it_needs(tmp_path):
  files.write_sealed_json(tmp_path / "config.json", {"kind": "detector"})
  with pytest.raises(errors.UserError, match='it has no "model_config"'):
    run_config.read(tmp_path, ["kind", "model_config"])
