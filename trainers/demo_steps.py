"""The stations of the demo; each is skipped where its result is there already.

demo/data            drawn scenes, prepared
demo/runs/teacher    POS-SCAN
demo/runs/plain      Up-Down
demo/runs/grounded   Up-Down with POS-SCAN's attention distilled into it
demo/model/1         the grounded captioner as a SavedModel
"""

import dataclasses
import pathlib
import time
from collections.abc import Callable
from typing import Any

from export import saved_model
from gcap_tf import config as configs
from gcap_tf import files
from gcap_tf.data import prepare, prepared, scenes
from gcap_tf.decoding import config as decode_config
from gcap_tf.training import (
  captioner_report,
  captioner_training,
  captioning,
  matcher_training,
  matching,
  optimizers,
  runs,
  schedules,
)

SCENES = scenes.SceneConfig(train=1500, val=100, test=100)
_OPTIMIZER = optimizers.OptimizerConfig(clip="norm", clip_at=5.0)

TEACHER = matcher_training.MatcherTrainingConfig(
  model="pos_scan",
  # Affinities are normalised over all words, as the paper prints: with the few nouns of a
  # caption alone (as released) background regions win; docs/findings.md has the figures.
  options={"joint_size": 128, "word_size": 64, "norm_scope": "all"},
  batch_size=64,
  epochs=4,
  losses=matching.MatchingConfig(sum_epochs=4),
  schedule=schedules.ScheduleConfig("cosine", 2e-3),
)

STUDENT = captioner_training.CaptionerTrainingConfig(
  model="updown",
  options={"hidden_size": 192, "embedding_size": 128, "attention_size": 128, "dropout": 0.1},
  min_count=2,
  images=32,
  max_words=20,
  epochs=12,
  schedule=schedules.ScheduleConfig("cosine", 3e-3),
  optimizer=_OPTIMIZER,
)
DISTILLED = captioning.CaptioningConfig(distill_weight=1.0)


@dataclasses.dataclass(frozen=True)
class Results:
  """What the demo shows.

  Attributes:
    data: the prepared scenes.
    plain, grounded: figures of Up-Down without and with distillation on the test scenes.
    model: base path of the exported captioner.
  """

  data: prepared.PreparedData
  plain: dict[str, Any]
  grounded: dict[str, Any]
  model: pathlib.Path


def run(folder: pathlib.Path, announce: Callable[[str], None]) -> Results:
  """Goes through all stations; `announce` is told before each."""
  announce(f"Drawing {SCENES.total:,} scenes, and what a noisy detector sees in them")
  data = draw_scenes(folder / "data")

  announce("Teaching POS-SCAN which nouns and regions belong together, from captions alone")
  teacher = folder / "runs" / "teacher"
  _once(teacher, TEACHER, lambda: matcher_training.train(data, TEACHER, teacher))

  announce("Training Up-Down to caption the scenes")
  plain = evaluated_student(data, STUDENT, folder / "runs" / "plain")

  announce("Training Up-Down again, with POS-SCAN's attention distilled into it")
  distilled = dataclasses.replace(STUDENT, teacher=str(teacher), losses=DISTILLED)
  grounded = evaluated_student(data, distilled, folder / "runs" / "grounded")

  announce("Exporting the grounded captioner as a SavedModel")
  model = folder / "model"
  if not (model / "1").exists():
    saved_model.export(runs.load(folder / "runs" / "grounded"), model)
  return Results(data, plain, grounded, model)


def draw_scenes(folder: pathlib.Path) -> prepared.PreparedData:
  if not (folder / "dataset.json").exists():
    config = prepare.PrepareConfig("scenes", regions="noisy", scenes=SCENES)
    prepare.prepare(config, folder)
  return prepared.PreparedData(folder)


def evaluated_student(
  data: prepared.PreparedData,
  config: captioner_training.CaptionerTrainingConfig,
  folder: pathlib.Path,
) -> dict[str, Any]:
  """Trains a captioner and judges it on the test scenes."""

  def train_and_evaluate() -> dict[str, Any]:
    captioner_training.train(data, config, folder)
    report_config = captioner_report.ReportConfig(
      decode=decode_config.DecodeConfig(), metrics=("bleu", "rouge_l", "cider")
    )
    captioner = runs.load(folder, "captioner")
    return captioner_report.evaluate(captioner, data.split("test"), report_config).values

  return _once(folder, config, train_and_evaluate)


def _once(folder: pathlib.Path, config: Any, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
  """The figures of a finished run; a run of another configuration is begun anew."""
  done = folder / "demo.json"
  options = configs.to_dict(config)
  if done.exists():
    kept = files.read_json(done)
    if kept["options"] == options:
      return kept["figures"]
    files.remove(folder)
  started = time.monotonic()
  figures = work()
  seconds = round(time.monotonic() - started)
  files.write_json(done, {"options": options, "figures": figures, "seconds": seconds})
  return figures
