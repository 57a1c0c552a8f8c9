"""The report that `evaluate_captioner` prints: every evaluator of captioners, run on a split."""

import dataclasses
import pathlib

from gcap_tf import registry
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import evaluator
from gcap_tf.runs import run_folders

ReportConfig, Report = evaluator.ReportConfig, evaluator.Report


def of_seed(config: ReportConfig, seed: int) -> ReportConfig:
  """The same report with files of its own: `captions.json` becomes `captions_seed_1.json`."""

  def own(path: str) -> str:
    before = pathlib.Path(path)
    return str(before.with_stem(f"{before.stem}_seed_{seed}")) if path else ""

  return dataclasses.replace(
    config,
    captions_path=own(config.captions_path),
    grounding_path=own(config.grounding_path),
    given_path=own(config.given_path),
  )


def evaluate(run: run_folders.Run, split: prepared_data.Split, config: ReportConfig) -> Report:
  """Captions a split and runs every evaluator on the captions."""
  registry.import_modules("gcap_tf.evaluation.evaluators")
  return evaluator.run_all(evaluator.CAPTIONERS, evaluator.CaptionerAnswers(run, split, config))
