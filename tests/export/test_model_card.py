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


def test_card_tells_data_metrics_and_licence_of_the_run(tmp_path):
  run = tiny_runs.captioner_run(tmp_path)
  training = {"epochs": 7, "losses": {"distill_weight": 0.1, "box_weight": 0.0}}
  run.config.update(dataset="scenes", training=training, object_classes=["dog", "cat"])
  lines = [
    '{"step": 5, "loss": 3.0}',
    '{"step": 5, "val_cider": 1.0}',
    '{"step": 9, "val_cider": 92.5}',
  ]
  (tmp_path / "metrics.jsonl").write_text("\n".join([*lines, '{"step": 11, "loss": 2.0}']) + "\n")
  card = model_card.text(run, saved_model.ExportConfig(licence="CC BY 4.0"), 1, {})
  for part in (
    "Trained on the train split of `scenes`.",
    "2 classes of annotated objects.",
    "- epochs: `7`",
    "- losses.distill_weight: `0.1`",
    "Last validation, after 9 steps:",
    "| cider | 92.5 |",
    "## Licence\n\nCC BY 4.0\n",
  ):
    assert part in card
  assert "box_weight" not in card, "options that are off are not listed"


def test_card_says_what_it_does_not_know(tmp_path):
  card = model_card.text(tiny_runs.captioner_run(tmp_path), saved_model.ExportConfig(), 1, {})
  assert "does not say what the weights were learned from" in card
  assert "holds no validation" in card
  assert "## Licence\n\nNot stated" in card
