"""Small models on small data, for tests of evaluators."""

from gcap_tf.decoding import config as decode_config
from gcap_tf.evaluation import evaluator
from gcap_tf.runs import run_folders
from tests.training import fine_tuned, small_runs


def captioner(
  folder, boxes=True, name="neuraltalk2", sizes=None, **config
) -> evaluator.CaptionerAnswers:
  """An untrained captioner and the validation split of five pictures."""
  data = small_runs.data(folder, boxes=boxes)
  run = run_folders.load(fine_tuned.captioner(folder / "run", data, name, **sizes or {}))
  decode = decode_config.DecodeConfig(min_length=4)
  return evaluator.CaptionerAnswers(
    run, data.split("val"), evaluator.ReportConfig(decode, **config)
  )


def matcher(folder, name="scan", boxes=True, **options) -> evaluator.MatcherScores:
  """An untrained matcher and the validation split of five pictures with 25 captions."""
  data = small_runs.data(folder, boxes=boxes)
  vocabulary = data.build_vocabulary("matcher", 1)
  sizes = {"vocabulary_size": vocabulary.size, "feature_size": data.feature_size}
  model = run_folders.make_model("matcher", name, {**small_runs.MATCHER_SIZES, **sizes})
  run_folders.save(folder / "run", "matcher", name, model, vocabulary)
  run = run_folders.load(folder / "run", "matcher")
  return evaluator.MatcherScores([run], data.split("val"), **options)
