"""A tiny ActivityNet-Entities on disk, with GVD's store of regions and frames, for tests."""

import json
import pathlib

import h5py
import numpy as np

VIDEOS = {"training": ("v_aa", "v_bb"), "validation": ("v_cc",)}
CLASSES = ("man", "dog", "he", "ball")
FRAMES = {"v_aa": 12, "v_bb": 7, "v_cc": 500}
APPEARANCE, MOTION, FEATURES = 4, 2, 6
PER_FRAME = 3


def annotation() -> dict:
  """Two segments a video: the second has no box; the first names a man twice and a dog."""
  videos = {}
  for number, video in enumerate(name for names in VIDEOS.values() for name in names):
    videos[video] = {
      "duration": 20.0,
      "segments": {
        "1": {
          "timestamps": [10.0, 20.01],
          "tokens": ["He", "throws", "a", "ball"],
          "frame_ind": [],
          "process_bnd_box": [],
          "process_clss": [],
          "process_idx": [],
          "crowds": [],
        },
        "0": {
          "timestamps": [0.0, 5.0 + number],
          "tokens": ["A", "man", "", "walks", "his", "dog"],
          "frame_ind": [2, 2, 7],
          "process_bnd_box": [[10, 20, 110, 220], [300, 100, 400, 200], [12, 22, 112, 222]],
          "process_clss": [["man", "he"], ["dog"], ["man"]],
          "process_idx": [[1, 4], [5], [1]],
          "crowds": [0, 1, 0],
        },
      },
    }
  return {"vocab": list(CLASSES), "annotations": videos}


def write(folder: pathlib.Path, value: dict | None = None) -> pathlib.Path:
  """The annotation and the split ids."""
  folder.mkdir(parents=True, exist_ok=True)
  value = annotation() if value is None else value
  name = "anet_entities_cleaned_class_thresh50_trainval.json"
  (folder / name).write_text(json.dumps(value))
  (folder / "split_ids_anet_entities.json").write_text(json.dumps(VIDEOS))
  return folder


def segments() -> list[tuple[str, str]]:
  """Id and split of every segment, in GVD's order."""
  return [
    (f"{video}_segment_{number:02d}", split)
    for split, videos in VIDEOS.items()
    for video in videos
    for number in range(2)
  ]


def write_prepared(folder: pathlib.Path, times: bool = True) -> pathlib.Path:
  """The same annotation as GVD prepared it."""
  folder.mkdir(parents=True, exist_ok=True)
  called = {
    "tokens": "caption",
    "process_clss": "clss",
    "process_bnd_box": "bbox",
    "process_idx": "idx",
    "frame_ind": "frm_idx",
  }
  videos = annotation()["annotations"]
  captions = {
    video: {
      "segments": {
        name: {called[key]: value for key, value in segment.items() if key in called}
        for name, segment in entry["segments"].items()
      }
    }
    for video, entry in videos.items()
  }
  (folder / "cap_anet_trainval.json").write_text(json.dumps(captions))
  write_list(folder)
  if times:
    stamps = {
      video: {
        "duration": entry["duration"],
        "timestamps": [entry["segments"][name]["timestamps"] for name in ("0", "1")],
      }
      for video, entry in videos.items()
    }
    (folder / "anet_captions_all.json").write_text(json.dumps(stamps))
  return folder


def write_list(folder: pathlib.Path) -> None:
  rows = [{"id": image_id, "split": split} for image_id, split in segments()]
  value = {"videos": rows, "wtod": {name: n for n, name in enumerate(CLASSES)}}
  (folder / "dic_anet.json").write_text(json.dumps({**value, "ix_to_word": {}, "wtol": {}}))


def write_store(folder: pathlib.Path) -> pathlib.Path:
  """Three proposals a frame, the last of each too weak to keep, and features of all frames."""
  rng = np.random.default_rng(0)
  (folder / "fc6").mkdir(parents=True)
  (folder / "rgb_motion_1d").mkdir()
  write_list(folder)
  ids = [image_id for image_id, _ in segments()]
  proposals = np.zeros([len(ids), 10 * PER_FRAME, 7], np.float32)
  low = rng.uniform(0, 300, [*proposals.shape[:2], 2])
  proposals[..., :2], proposals[..., 2:4] = low, low + rng.uniform(50, 400, low.shape)
  proposals[..., 4] = np.repeat(np.arange(10), PER_FRAME)
  proposals[..., 6] = np.tile([0.9, 0.5, 0.1], 10)
  # The first proposal of frame 2 is the man of every video.
  proposals[:, 2 * PER_FRAME, :4] = [10, 20, 110, 220]
  with h5py.File(folder / "proposals.h5", "w") as file:
    file["dets_labels"], file["dets_num"] = proposals, np.full(len(ids), 10 * PER_FRAME)
  for image_id in ids:
    np.save(folder / "fc6" / f"{image_id}.npy", _normal(rng, 10, PER_FRAME, FEATURES))
  for video, frames in FRAMES.items():
    name = folder / "rgb_motion_1d" / video.removeprefix("v_")
    np.save(f"{name}_resnet.npy", _normal(rng, frames, APPEARANCE))
    np.save(f"{name}_bn.npy", _normal(rng, frames, MOTION))
  return folder


def _normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
  return rng.normal(size=shape).astype(np.float32)
