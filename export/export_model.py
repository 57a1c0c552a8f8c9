"""Writes a run's model as a version that TensorFlow Serving can load.

    python -m export.export_model --run=RUN --out=DIR

makes DIR/1, or the next free number: a SavedModel that was loaded again and compared
with the run's model, with warm-up requests and a MODEL_CARD.md.
"""

import pathlib

from absl import flags

from gcap_tf import errors

FLAGS = flags.FLAGS


def _define_flags() -> None:
  flags.DEFINE_string("run", None, "The run folder.", required=True)
  flags.DEFINE_string("out", None, "Folder of versions to add one to.", required=True)
  flags.DEFINE_integer("version", 0, "Number of the version; 0 takes the next.", 0)
  flags.DEFINE_integer("beam_size", 3, "Beams of the beam signature.", 1)
  flags.DEFINE_integer(
    "max_length", None, "Words of a caption at most; default: as imported, or 20.", 1
  )
  flags.DEFINE_bool("float16_weights", False, "Store weights in half precision.")
  flags.DEFINE_string(
    "object_words",
    None,
    "File of words that name things, one a line; the default is the labels "
    "of the run's regions, or the nouns of its vocabulary.",
  )
  flags.DEFINE_string("licence", "", "Licence of the weights, for MODEL_CARD.md.")


def main(argv: list[str]) -> None:
  del argv
  from export import saved_model
  from gcap_tf.evaluation import captioner_evaluation
  from gcap_tf.runs import run_folders

  words = ()
  if FLAGS.object_words:
    words = tuple(pathlib.Path(FLAGS.object_words).read_text(encoding="utf-8").split())
  run = run_folders.load(FLAGS.run)
  folder = saved_model.export(
    run,
    FLAGS.out,
    saved_model.ExportConfig(
      version=FLAGS.version,
      beam_size=FLAGS.beam_size,
      max_length=FLAGS.max_length or captioner_evaluation.max_length(run),
      float16_weights=FLAGS.float16_weights,
      object_words=words,
      licence=FLAGS.licence,
    ),
  )
  print(folder)


if __name__ == "__main__":
  _define_flags()
  errors.run(main)
