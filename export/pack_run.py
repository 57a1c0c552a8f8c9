"""Packs a trained run into one small folder that every tool accepts as `--run`.

    python -m trainers.evaluate_captioner --run=RUN --data=DATA --split=val > figures.txt
    python -m export.pack_run --run=RUN --out=DIR --metrics=figures.txt --evaluated="val, greedy"

writes `config.json` without local paths, `vocabulary.json`, the best weights in float16
(`weights.npz`), the scores (`metrics.json`) and `MODEL_CARD.md`. `--start_share` averages
the weights of a fine-tuned run with those before fine-tuning, `--mean_with` with those of other
runs that were fine-tuned from the same start. The folder of a captioner of
photographs also holds the detector that made its regions (`detector/`), unless that is the
shipped one.
"""

from absl import flags

from gcap_tf import errors

FLAGS = flags.FLAGS


def _define_flags() -> None:
  flags.DEFINE_string("run", None, "The run folder.", required=True)
  flags.DEFINE_string("out", None, "The folder to write or to replace.", required=True)
  flags.DEFINE_string(
    "metrics", None, "File with scores: a JSON object, or the output of an evaluation command."
  )
  flags.DEFINE_string("evaluated", "", "What the scores were measured on, for the model card.")
  flags.DEFINE_float("start_share", 0.0, "Share of the weights from before fine-tuning.", 0.0, 1.0)
  flags.DEFINE_list(
    "mean_with", [], "Other runs that began with the same run: packs the mean of all weights."
  )
  flags.DEFINE_string(
    "detector",
    "",
    "Detector of a captioner of photographs, in place of the one that made its regions: shipped, "
    "or a run folder.",
  )
  flags.DEFINE_string("licence", "", "Licence of the weights, for the model card.")


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.runs import packed_run

  figures = packed_run.read_figures(FLAGS.metrics) if FLAGS.metrics else None
  size = packed_run.pack(
    FLAGS.run,
    FLAGS.out,
    figures,
    FLAGS.evaluated,
    FLAGS.licence,
    FLAGS.start_share,
    FLAGS.detector,
    FLAGS.mean_with,
  )
  print(f"{FLAGS.out}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
  _define_flags()
  errors.run(main)
