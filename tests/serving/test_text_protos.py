import pytest

from gcap_tf import errors
from serving import batching, text_protos


def test_batching_file_sets_what_it_names(tmp_path):
  path = tmp_path / "b.config"
  path.write_text("max_batch_size { value: 7 } pad_variable_length_inputs: true")
  found = text_protos.read_batching(str(path))
  assert found == batching.BatchingConfig(max_batch_size=7)
  assert text_protos.read_batching(None) == batching.BatchingConfig()


@pytest.mark.parametrize(
  ("text", "message"),
  [
    ("max_batch_sise { value: 7 }", "max_batch_sise"),
    ("max_batch_size { value: 0 }", "max_batch_size is 0, too small"),
    ("max_batch_size: 3", "b.config"),
  ],
)
def test_wrong_batching_file_is_one_clear_error(tmp_path, text, message):
  path = tmp_path / "b.config"
  path.write_text(text)
  with pytest.raises(errors.UserError, match=message):
    text_protos.read_batching(str(path))


def test_monitoring_message_has_servings_fields():
  message = text_protos.monitoring_message()
  message.prometheus_config.enable = True
  message.prometheus_config.path = "/x"
  assert 'path: "/x"' in str(message)
