"""The steps of the training demo; a step is skipped if its result exists.

demo/train/data           drawn scenes, prepared
demo/train/runs/teacher   POS-SCAN
demo/train/runs/plain     Up-Down
demo/train/runs/grounded  Up-Down with POS-SCAN's attention distilled into it
demo/train/model/1        the grounded captioner as a SavedModel
"""

import dataclasses
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from export import saved_model
from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.data.prepared import prepared_data
from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.decoding import config as decode_config
from gcap_tf.evaluation import captioner_report
from gcap_tf.runs import run_folders
from gcap_tf.training import loss_options, optimizers, schedules
from gcap_tf.training.methods import captioning, matching

_OPTIMIZER = optimizers.OptimizerConfig(clip="norm", clip_at=5.0)


def _teacher(**options: Any) -> matching.MatcherTrainingConfig:
  return matching.MatcherTrainingConfig(
    model="pos_scan",
    # Affinities are normalised over all words, as in the paper. Over nouns only (as in the
    # released code) background regions win: docs/findings.md has the figures.
    options={"joint_size": 128, "norm_scope": "all"},
    batch_size=64,
    evaluate_every=10_000,  # Only at the end.
    losses=matching.MatchingLosses(negatives="sum"),
    schedule=schedules.ScheduleConfig("cosine", 2e-3),
    **options,
  )


def _student(**options: Any) -> captioning.CaptionerTrainingConfig:
  return captioning.CaptionerTrainingConfig(
    model="updown",
    options={"hidden_size": 192, "embedding_size": 128, "attention_size": 128, "dropout": 0.1},
    min_count=2,
    images=64,
    captions_per_image=2,
    max_words=20,
    buckets=(12, 16),
    evaluate_every=10_000,  # Only at the end.
    schedule=schedules.ScheduleConfig("cosine", 3e-3),
    optimizer=_OPTIMIZER,
    **options,
  )


@dataclasses.dataclass(frozen=True)
class DemoConfig:
  """Sizes of the demo.

  Attributes:
    scenes: pictures to draw.
    teacher, student: training of both.
    distill_weight: weight of the teacher's attention in the second student.
  """

  scenes: drawn_scenes.SceneConfig = dataclasses.field(
    default_factory=lambda: drawn_scenes.SceneConfig(train=1500, val=100, test=100)
  )
  teacher: matching.MatcherTrainingConfig = dataclasses.field(
    default_factory=lambda: _teacher(epochs=2)
  )
  student: captioning.CaptionerTrainingConfig = dataclasses.field(
    default_factory=lambda: _student(epochs=14)
  )
  distill_weight: float = 1.0


# Shows that every step runs; too little to learn anything from.
QUICK = DemoConfig(
  scenes=drawn_scenes.SceneConfig(train=48, val=8, test=8),
  teacher=_teacher(epochs=1),
  student=_student(epochs=1),
)


@dataclasses.dataclass(frozen=True)
class Results:
  """Results of the demo.

  Attributes:
    data: the prepared scenes.
    plain, grounded: scores of Up-Down without and with distillation on the test scenes.
    model: base path of the exported captioner.
  """

  data: prepared_data.PreparedData
  plain: dict[str, Any]
  grounded: dict[str, Any]
  model: pathlib.Path


def run(folder: pathlib.Path, config: DemoConfig, announce: Callable[[str], None]) -> Results:
  """Runs all steps; calls `announce` before each."""
  announce(f"Drawing {config.scenes.total:,} scenes, with the regions of a noisy detector")
  data = draw_scenes(folder / "data", config.scenes)

  announce("Training POS-SCAN to match nouns and regions, from captions alone")
  teacher = folder / "runs" / "teacher"
  _once(teacher, config.teacher, lambda: matching.train(data, config.teacher, teacher))

  announce("Training Up-Down to caption the scenes")
  plain = evaluated_student(data, config.student, folder / "runs" / "plain")

  announce("Training Up-Down again, with POS-SCAN's attention distilled into it")
  losses = loss_options.CaptioningLosses(distill_weight=config.distill_weight)
  distilled = dataclasses.replace(config.student, teacher=str(teacher), losses=losses)
  grounded = evaluated_student(data, distilled, folder / "runs" / "grounded")

  announce("Exporting the grounded captioner as a SavedModel")
  model = folder / "model"
  if not (model / "1").exists():
    saved_model.export(run_folders.load(folder / "runs" / "grounded"), model)
  return Results(data, plain, grounded, model)


def draw_scenes(
  folder: pathlib.Path, config: drawn_scenes.SceneConfig
) -> prepared_data.PreparedData:
  """Runs prepare_data in a process of its own, so that its workers need no TensorFlow."""
  if not (folder / "dataset.json").exists():
    flags = (f"--scenes_{name}={getattr(config, name)}" for name in ("train", "val", "test"))
    program = [sys.executable, "-m", "trainers.prepare_data", "--dataset=scenes"]
    done = subprocess.run([*program, "--regions=noisy", f"--out={folder}", *flags])
    if done.returncode:
      raise errors.UserError("drawing the scenes failed; see above")
  return prepared_data.PreparedData(folder)


def evaluated_student(
  data: prepared_data.PreparedData,
  config: captioning.CaptionerTrainingConfig,
  folder: pathlib.Path,
) -> dict[str, Any]:
  """Trains a captioner and evaluates it on the test scenes."""

  def train_and_evaluate() -> dict[str, Any]:
    captioning.train(data, config, folder)
    report_config = captioner_report.ReportConfig(
      decode=decode_config.DecodeConfig(), metrics=("bleu", "rouge_l", "cider")
    )
    captioner = run_folders.load(folder, "captioner")
    return captioner_report.evaluate(captioner, data.split("test"), report_config).values

  return _once(folder, config, train_and_evaluate)


def _once(folder: pathlib.Path, config: Any, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
  """The figures of a finished run; a run with another configuration is trained again."""
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
