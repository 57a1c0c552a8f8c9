import tensorflow as tf

from export import model_card, saved_model
from tests.export import tiny_runs


def test_card_names_model_options_and_tensors(tmp_path):
  run = tiny_runs.captioner_run(tmp_path)

  @tf.function
  def echo(**given):
    return {"y": given["x"]}

  function = echo.get_concrete_function(x=tf.TensorSpec([None, 2], tf.float32, "x"))
  config = saved_model.ExportConfig(beam_size=9)
  card = model_card.text(run, config, 12, {"greedy": function})
  for part in (
    "# captioner updown, version 12",
    "- beam_size: 9",
    f"fingerprint `{run.vocabulary.fingerprint}`",
    "## Signature `greedy`",
    "| in | `x` | float32 | [?, 2] |",
    "| out | `y` | float32 | [?, 2] |",
  ):
    assert part in card
