"""Packs a trained run: one small folder that every tool takes as `--run`, fit to hand on.

    python -m trainers.evaluate_captioner --run=RUN --data=DATA --split=val > figures.txt
    python -m export.pack_run --run=RUN --out=DIR --metrics=figures.txt --evaluated="val, greedy"

writes `config.json` without the folders of this machine, `vocabulary.json`, the best
weights in float16 (`weights.npz`), the figures (`metrics.json`) and `MODEL_CARD.md`. With
`--start_share` a fine-tuned run's weights are averaged with those before fine-tuning.
"""

from absl import flags

from gcap_tf import errors

FLAGS = flags.FLAGS


def _define_flags() -> None:
  flags.DEFINE_string("run", None, "The run folder.", required=True)
  flags.DEFINE_string("out", None, "The folder to write; what is there is replaced.", required=True)
  flags.DEFINE_string(
    "metrics", None, "Figures: a JSON object, or the output of an evaluation, whose last line is."
  )
  flags.DEFINE_string("evaluated", "", "On what the figures are, for the model card.")
  flags.DEFINE_float(
    "start_share", 0.0, "Of a fine-tuned run: share of the weights before fine-tuning.", 0.0, 1.0
  )
  flags.DEFINE_string("licence", "", "Licence of the weights, for the model card.")


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.runs import packed_run

  figures = packed_run.read_figures(FLAGS.metrics) if FLAGS.metrics else None
  size = packed_run.pack(
    FLAGS.run, FLAGS.out, figures, FLAGS.evaluated, FLAGS.licence, FLAGS.start_share
  )
  print(f"{FLAGS.out}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
  _define_flags()
  errors.run(main)
