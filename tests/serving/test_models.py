import pathlib

import pytest

from gcap_tf import errors
from serving import models, status, versions


def write(path, text):
  path.write_text(text)
  return path


def test_config_file_gives_policies_and_labels(tmp_path):
  path = write(
    tmp_path / "m.config",
    """
    model_config_list {
      config { name: "a" base_path: "/a" }
      config { name: "b" base_path: "/b" model_platform: "tensorflow"
               model_version_policy { specific { versions: 3 versions: 5 } }
               version_labels { key: "stable" value: 3 } }
      config { name: "c" base_path: "/c" model_version_policy { all {} } }
    }
    """,
  )
  assert models.read_config_file(path) == [
    versions.ModelConfig("a", pathlib.Path("/a")),
    versions.ModelConfig("b", pathlib.Path("/b"), 1, (3, 5), {"stable": 3}),
    versions.ModelConfig("c", pathlib.Path("/c"), latest=0),
  ]


@pytest.mark.parametrize(
  ("text", "message"),
  [
    ("model_config_lst {}", "model_config_lst"),
    ("", "model_config_list"),
    (
      'model_config_list { config { name: "a" model_platform: "other" } }',
      'platform "other" is not served',
    ),
  ],
)
def test_wrong_config_file_is_one_clear_error(tmp_path, text, message):
  with pytest.raises(errors.UserError, match=message):
    models.read_config_file(write(tmp_path / "m.config", text))


def test_contradicting_configs_are_refused(tmp_path):
  model = versions.ModelConfig("a", tmp_path)
  models.check_configs([model])
  for wrong, message in (
    ([model, model], "twice"),
    ([versions.ModelConfig("", tmp_path)], "has no name"),
    ([versions.ModelConfig("a", tmp_path / "x")], "does not exist"),
  ):
    with pytest.raises(status.ServingError, match=message):
      models.check_configs(wrong)
