r"""Captions photographs, clips, or regions, and says which region each word looked at.

    python -m trainers.caption photo.jpg
    python -m trainers.caption --pictures=photos --out=captions.json --draw=drawn
    python -m trainers.caption --labels=detections.json --out=captions.json
    python -m trainers.caption --run=runs/videos --video=clip.mp4 --draw=drawn
    python -m trainers.caption --run=runs/updown --regions=features --decode=beam \
      --beam_size=3 --out=captions.json

`--pictures` are files and folders; a damaged file is named and passed over, and the exit code is 1
at the end. `--video` are video files, animated pictures and folders of frames; their rows have
`box_frames`, a box for each word in each frame, and --draw has a strip of frames (ID.png) and a
page that plays it (ID.html). `--labels` is the output of a detector in COCO's format: a list of
`image_id`, `bbox` (x, y, width, height in pixels), `category` or `label`, `score`; or an object
with `images`, `annotations` and `categories`. Labels that the run does not know are mapped to
similar ones, or reported. `--regions` is any region store: folders `att/ID.npz` (key `feat`),
`fc/ID.npy`, `box/ID.npy`; a bottom-up TSV; SCAN arrays; GVD's HDF5. The output has one row a
picture:
`image_id, caption, words, box_index, boxes, log_prob`, and `labels` if regions have them;
`answered` (false: nothing known is in the picture, and there are no words), `score`, and for every
word `grounded` and `word_score`, the probability that its box is right (docs/answers.md).
"""

import re

from absl import flags

from gcap_tf import errors, files, printing
from trainers import decode_flags

_RUN = flags.DEFINE_string(
  "run",
  None,
  "Run folder of a captioner, or the folder of a SavedModel for --pictures. Default: "
  "shipped_labels for --labels, else shipped.",
)
_PICTURES = flags.DEFINE_list("pictures", [], "Picture files, and folders of them.")
_VIDEO = flags.DEFINE_list(
  "video", [], "Clips for a captioner of videos: files, or folders of frames; see docs/video.md."
)
_DRAW = flags.DEFINE_string("draw", "", "Folder for drawings of --pictures and --video.")
_DETECTOR = flags.DEFINE_string(
  "detector",
  "",
  "Finds regions in --pictures and --video, as in extract_regions. Default: the run's own.",
)
_REGIONS = flags.DEFINE_string("regions", None, "Region store.")
_LABELS = flags.DEFINE_string("labels", None, "Detections: boxes with labels, as COCO has them.")
_MIN_SCORE = flags.DEFINE_float("min_score", 0.3, "Drops --labels that have a lower score.")
_IMAGE_SIZE = flags.DEFINE_string(
  "image_size", None, "WIDTHxHEIGHT of pictures whose size is not in --labels."
)
_OUT = flags.DEFINE_string(
  "out", None, "JSON file to write; without it, captions of --pictures and --video are printed."
)

flags.adopt_module_key_flags(decode_flags)


def image_size() -> tuple[int, int] | None:
  """--image_size as (width, height)."""
  if not _IMAGE_SIZE.value:
    return None
  edges = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", _IMAGE_SIZE.value)
  if not edges:
    raise errors.UserError(f"--image_size={_IMAGE_SIZE.value}: expected WIDTHxHEIGHT, as 640x480")
  return int(edges[1]), int(edges[2])


def main(argv: list[str]) -> int:
  places = [*_PICTURES.value, *argv[1:]]
  given = [bool(each) for each in (places, _VIDEO.value, _REGIONS.value, _LABELS.value)]
  if sum(given) != 1:
    raise errors.UserError(
      "give one of --pictures=PHOTOS, --video=CLIP, --labels=detections.json and --regions=DIR"
    )
  if _VIDEO.value:
    return caption_videos(_VIDEO.value)
  if places:
    return caption_pictures(places)
  if not _OUT.value:
    raise errors.UserError("--out is missing: name the JSON file to write")
  caption_regions()
  return 0


def caption_pictures(places: list[str]) -> int:
  from gcap_tf import api
  from trainers import picture_captions

  captioner = api.load(_RUN.value or "shipped", _DETECTOR.value)
  decode = decode_flags.configuration(captioner.run) if captioner.run else decode_flags.method()
  done, damaged = picture_captions.caption(captioner, places, decode, _DRAW.value)
  if _OUT.value:
    picture_captions.write(_OUT.value, done)
    print(f"{printing.count(len(done), 'picture')} captioned; written to {_OUT.value}")
  else:
    print("\n".join(map(picture_captions.text, done)))
  return 1 if damaged else 0


def caption_videos(places: list[str]) -> int:
  if not _RUN.value:
    raise errors.UserError("--run is missing: name a captioner of videos (docs/video.md)")
  from gcap_tf.evaluation import clip_captioning
  from gcap_tf.runs import run_folders
  from trainers import clip_captions

  run = run_folders.load(_RUN.value, "captioner")
  config, rules = decode_flags.configuration(run), decode_flags.rules(run)
  captioner = clip_captioning.ClipCaptioner(run, config, rules, _DETECTOR.value)
  done, damaged = clip_captions.caption(captioner, places, _DRAW.value)
  if _OUT.value:
    files.write_json(_OUT.value, [answer.row() for answer in done], indent=1)
    print(f"{printing.count(len(done), 'clip')} captioned; written to {_OUT.value}")
  else:
    print("\n".join(map(clip_captions.text, done)))
  return 1 if damaged else 0


def caption_regions() -> None:
  from gcap_tf.data.stores import detection_files, label_mapping, store_formats
  from gcap_tf.evaluation import region_captioning
  from gcap_tf.runs import run_folders

  if _REGIONS.value:
    store = store_formats.open_store(_REGIONS.value)
  else:
    store = detection_files.DetectionStore(_LABELS.value, _MIN_SCORE.value, image_size())
  usual = "shipped_labels" if _LABELS.value else "shipped"
  run = run_folders.load(_RUN.value or usual, "captioner")
  if _LABELS.value:
    if not run.model.config.num_labels or run.model.config.feature_size:
      raise errors.UserError(f"{run.folder} does not read labels alone; caption --regions with it")
    label_mapping.report(label_mapping.LabelMapping(run.vocabulary.labels), store.names)
  config, rules = decode_flags.configuration(run), decode_flags.rules(run)
  rows = list(region_captioning.caption_store(run, store, config, rules=rules))
  files.write_json(_OUT.value, rows, indent=1)
  print(f"{printing.count(len(rows), 'picture')} captioned; written to {_OUT.value}")


if __name__ == "__main__":
  errors.run(main, takes_arguments=True)
