"""Writes the model of a run as a version that TensorFlow Serving can load.

    python -m export.export_model --run=RUN --out=DIR

writes DIR/1, or the next free number: a SavedModel with warm-up requests and a
MODEL_CARD.md. A captioner of photographs takes the bytes of picture files. The command
loads the saved model again and compares its answers with those of the run before it
publishes the version.
"""

import pathlib

from absl import flags

from gcap_tf import errors

FLAGS = flags.FLAGS


def _define_flags() -> None:
  flags.DEFINE_string("run", None, "The run folder.", required=True)
  flags.DEFINE_string("out", None, "Folder of versions; the export adds one.", required=True)
  flags.DEFINE_integer("version", 0, "Number of the version; 0 takes the next free one.", 0)
  flags.DEFINE_integer("beam_size", 3, "Number of beams of the beam signature.", 1)
  flags.DEFINE_integer(
    "max_length", None, "Most words of a caption; the default is that of the run, or 20.", 1
  )
  flags.DEFINE_bool("float16_weights", False, "Whether to store the weights in half precision.")
  flags.DEFINE_string(
    "object_words",
    None,
    "File with the words that name things, one per line; the default is the labels "
    "of the run's regions, or the nouns of its vocabulary.",
  )
  flags.DEFINE_bool(
    "as_published",
    False,
    "Decodes as the released programs do, without the rules against repeats and bad endings.",
  )
  flags.DEFINE_string(
    "detector",
    "",
    "Detector in the graph of a captioner of photographs: shipped or a run folder; the default is "
    "the one that made the regions of the run.",
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
      detector=FLAGS.detector,
      licence=FLAGS.licence,
      as_published=FLAGS.as_published,
    ),
  )
  print(folder)


if __name__ == "__main__":
  _define_flags()
  errors.run(main)
