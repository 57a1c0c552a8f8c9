r"""Evaluates a detector on annotated photographs.

    python -m trainers.evaluate_detector --run=shipped --source=data/flickr30k_entities \
      --pictures=data/flickr30k_images --split=val --draw=out/val

Prints recall at 36 and 100 regions (IoU > 0.5), class-agnostic AP, accuracy of labels and colours,
and milliseconds a picture; docs/vision.md defines each. The last line is one JSON object, in
percent. --draw writes the 20 best and the 20 worst pictures, and a page of them. Other
detectors (--run=tflite:FILE, detections:FILE, ..., or grid:36, fixed boxes) are judged by recall
alone.
"""

import json

from absl import flags

from gcap_tf import errors
from gcap_tf.evaluation import detector_report

_RUN = flags.DEFINE_string(
  "run", "shipped", "Run folder, shipped, or a detector as in extract_regions."
)
_SOURCE = flags.DEFINE_string("source", None, "Folder of Flickr30k Entities.", required=True)
_PICTURES = flags.DEFINE_string("pictures", None, "Folder of photographs.", required=True)
_SPLIT = flags.DEFINE_string("split", "val", "Which split.")
_MAX = flags.DEFINE_integer("max_pictures", 0, "At most so many pictures; 0: all.", 0)
_DRAW = flags.DEFINE_string("draw", None, "Folder for the best and worst pictures.")


def main(argv: list[str]) -> None:
  del argv
  figures = detector_report.evaluate(
    _RUN.value, _SOURCE.value, _PICTURES.value, _SPLIT.value, _MAX.value, _DRAW.value
  )
  for name, value in figures.items():
    print(f"{name:26} {value:10.2f}")
  print(json.dumps(figures))


if __name__ == "__main__":
  errors.run(main)
