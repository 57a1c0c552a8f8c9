r"""Captions pictures from their regions, and says where each word looked.

    python -m trainers.caption --labels=detections.json --out=captions.json
    python -m trainers.caption --run=runs/updown --regions=features --decode=beam \
      --beam_size=3 --out=captions.json

`--labels` is what a detector wrote, as COCO does: a list of `image_id`, `bbox` (x, y, width,
height in pixels), `category` or `label`, `score`; or an object with `images`, `annotations` and
`categories`. Names that the run does not know are mapped to near ones, or reported.
`--regions` is any region store: folders `att/ID.npz` (key `feat`), `fc/ID.npy`, `box/ID.npy`;
a bottom-up TSV; SCAN arrays; GVD's HDF5. Writes one row a picture: `image_id, caption,
words, box_index, boxes, log_prob`, and of labelled regions `labels`.
"""

import re

from absl import flags

from gcap_tf import errors, files
from gcap_tf.data.stores import (
  detection_files,
  label_mapping,
  region_store,
  store_formats,
)
from gcap_tf.decoding import config as decode_config
from gcap_tf.evaluation import captioner_evaluation, region_captioning
from gcap_tf.runs import run_folders

_RUN = flags.DEFINE_string("run", "shipped", "Run folder of a captioner.")
_REGIONS = flags.DEFINE_string("regions", None, "Region store.")
_LABELS = flags.DEFINE_string("labels", None, "Detections: boxes with labels, as COCO has them.")
_MIN_SCORE = flags.DEFINE_float(
  "min_score", detection_files.MIN_SCORE, "Drops --labels that have a lower score."
)
_IMAGE_SIZE = flags.DEFINE_string(
  "image_size", None, "WIDTHxHEIGHT of pictures whose size the --labels do not tell."
)
_OUT = flags.DEFINE_string("out", None, "Where the JSON goes.", required=True)
_DECODE = flags.DEFINE_enum("decode", "greedy", ["greedy", "beam"], "How captions are found.")
_BEAM = flags.DEFINE_integer("beam_size", 3, "Beams of --decode=beam.", 1)
_LENGTH = flags.DEFINE_integer(
  "max_length", None, "Words of a caption at most; default: as imported, or 20.", 1
)
_UNKNOWN = flags.DEFINE_enum(
  "unknown",
  None,
  ["allow", "suppress", "second_best"],
  "What becomes of UNK; default: suppressed in beam search; in greedy decoding allowed, "
  "but for GVD and its kin, which take the second best word.",
)


def open_regions() -> region_store.RegionStore:
  """The store that the flags name."""
  if bool(_REGIONS.value) == bool(_LABELS.value):
    raise errors.UserError("give one of --labels=detections.json and --regions=DIR")
  if _REGIONS.value:
    return store_formats.open_store(_REGIONS.value)
  size = None
  if _IMAGE_SIZE.value:
    edges = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", _IMAGE_SIZE.value)
    if not edges:
      raise errors.UserError(f"--image_size={_IMAGE_SIZE.value}: expected WIDTHxHEIGHT, as 640x480")
    size = (int(edges[1]), int(edges[2]))
  return detection_files.DetectionStore(_LABELS.value, _MIN_SCORE.value, size)


def main(argv: list[str]) -> None:
  del argv
  store = open_regions()
  run = run_folders.load(_RUN.value, "captioner")
  if isinstance(store, detection_files.DetectionStore):
    if not run.model.config.num_labels:
      raise errors.UserError(f"{run.folder} does not read labels; caption --regions with it")
    label_mapping.report(label_mapping.LabelMapping(run.vocabulary.labels), store.names)
  usual = captioner_evaluation.usual_decoding(run.model).unknown
  unknown = _UNKNOWN.value or ("suppress" if _DECODE.value == "beam" else usual)
  config = decode_config.DecodeConfig(
    _DECODE.value,
    _LENGTH.value or captioner_evaluation.max_length(run),
    unknown=unknown,
    beam_size=_BEAM.value,
  )
  rows = list(region_captioning.caption_store(run, store, config))
  files.write_json(_OUT.value, rows, indent=1)
  print(f"{len(rows):,} pictures captioned; written to {_OUT.value}")


if __name__ == "__main__":
  errors.run(main)
