"""Annotations of ActivityNet-Entities as Grounded Video Description prepared them.

    dic_anet.json              `videos`: id (VIDEO_segment_NN) and split of each segment;
                               `wtod`: class -> number; `ix_to_word`, `wtol`
    cap_anet_trainval.json     VIDEO -> `segments` -> NN -> caption, clss, bbox, idx, frm_idx;
                               rare words of `caption` are UNK already
    anet_captions_all.json     VIDEO -> `duration`, `timestamps`; optional: without it a segment
                               is its whole video

Entries are returned under the names of ActivityNet-Entities' own files.
"""

import dataclasses
import pathlib
from typing import Any

from gcap_tf import errors, files
from gcap_tf.data import source_files

LIST = "dic_anet.json"
WORDS = "cap_anet_trainval.json"
TIMES = "anet_captions_all.json"
_CALLED = {
  "caption": "tokens",
  "clss": "process_clss",
  "bbox": "process_bnd_box",
  "idx": "process_idx",
  "frm_idx": "frame_ind",
}
_MARK = "_segment_"


@dataclasses.dataclass(frozen=True)
class GVDAnnotations:
  """What the files say.

  Attributes:
    videos: split, as in the files -> video -> its entry.
    classes: object classes, by number.
  """

  videos: dict[str, dict[str, Any]]
  classes: tuple[str, ...]


def is_here(folder: pathlib.Path) -> bool:
  """Whether a folder holds the files."""
  return (folder / LIST).is_file() and (folder / WORDS).is_file()


def segment_ids(path: pathlib.Path) -> list[tuple[str, str]]:
  """Id and split of every segment, in the order of GVD's proposals."""
  listed = files.read_json(path, "segment list")
  source_files.require(listed, {"videos": list}, str(path))
  for number, entry in enumerate(listed["videos"]):
    where = f"{path}: segment {number}"
    source_files.require(entry, {"id": str, "split": str}, where)
    video, mark, name = entry["id"].rpartition(_MARK)
    if not (video and mark and name.isdecimal()):
      raise errors.UserError(f"{where}: id {entry['id']!r}; expected VIDEO{_MARK}NN")
  return [(entry["id"], entry["split"]) for entry in listed["videos"]]


def read(folder: pathlib.Path) -> GVDAnnotations:
  """Reads the files of a folder."""
  path = folder / WORDS
  entries = files.read_json(path, "annotation")
  times = files.read_json(folder / TIMES, "times") if (folder / TIMES).is_file() else {}
  videos: dict[str, dict[str, Any]] = {}
  for image_id, split in segment_ids(folder / LIST):
    video, _, number = image_id.rpartition(_MARK)
    name = str(int(number))
    found = entries.get(video, {}).get("segments", {}).get(name)
    if found is None:
      raise errors.UserError(f"{path}: no segment {name} of video {video}, which {LIST} lists")
    entry = videos.setdefault(split, {}).setdefault(
      video, {"segments": {}, "duration": times.get(video, {}).get("duration", 0)}
    )
    segment = {_CALLED.get(key, key): value for key, value in found.items()}
    stamps = times.get(video, {}).get("timestamps", [])
    if int(name) < len(stamps):
      segment["timestamps"] = stamps[int(name)]
    entry["segments"][name] = segment
  dictionary = files.read_json(folder / LIST, "segment list")
  source_files.require(dictionary, {"wtod": dict}, str(folder / LIST))
  numbers = dictionary["wtod"]
  return GVDAnnotations(videos, tuple(sorted(numbers, key=numbers.get)))
