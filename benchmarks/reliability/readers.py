"""Every reader of foreign files as a function of bytes, with seeds to begin from.

A reader returns or raises `errors.UserError` (an OSError where the file system could); anything
else is a defect. TensorFlow is imported by the readers that need it alone.
"""

import base64
import dataclasses
import functools
import io
import json
import pathlib
from collections.abc import Callable

import h5py
import numpy as np

from benchmarks.reliability import damaged_files
from gcap_tf import files
from gcap_tf.data.prepared import shards
from gcap_tf.data.readers import (
  activitynet,
  coco,
  datasets,
  entities_boxes,
  entities_sentences,
)
from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.data.stores import detection_files, numpy_objects, store_formats
from gcap_tf.metrics import coco_io, results_io
from gcap_tf.text import vocabulary

Read = Callable[[bytes, pathlib.Path], object]


@dataclasses.dataclass(frozen=True)
class Reader:
  """A reader and whole files of its format.

  Attributes:
    read: takes the bytes and an empty folder to write them to.
    seeds: small whole files.
  """

  read: Read
  seeds: Callable[[], list[bytes]]


def _put(folder: pathlib.Path, name: str, data: bytes) -> pathlib.Path:
  path = folder / name
  path.parent.mkdir(parents=True, exist_ok=True)
  path.write_bytes(data)
  return path


def _store(path: pathlib.Path) -> None:
  """Reads every picture of a region store."""
  store = store_formats.open_store(path)
  for image_id in list(store.ids())[:8]:
    store.size(image_id)
    store.get(image_id, 100, 80)


def _read_all(source) -> None:
  for split in source.splits:
    for image_id in list(source.image_ids(split))[:8]:
      source.record(image_id, split)


def _coco(data: bytes, folder: pathlib.Path) -> None:
  """Half of the bytes are the captions, half the instances, with a zero byte between."""
  captions, _, instances = data.partition(b"\0")
  _put(folder, "annotations/captions_val2017.json", captions)
  if instances:
    _put(folder, "annotations/instances_val2017.json", instances)
  _read_all(coco.COCO(folder))


def _karpathy(data: bytes, folder: pathlib.Path) -> None:
  _put(folder, "dataset_tiny.json", data)
  _read_all(datasets.DATASETS.get("karpathy").open(str(folder), None, None))


def _activitynet(data: bytes, folder: pathlib.Path) -> None:
  """The annotation, and the videos of the splits after a zero byte."""
  annotation, _, ids = data.partition(b"\0")
  _put(folder, "anet_entities_cleaned_class_thresh50_trainval.json", annotation)
  _put(folder, "split_ids_anet_entities.json", ids)
  _read_all(activitynet.ActivityNetEntities(folder))


def _detections(data: bytes, folder: pathlib.Path) -> None:
  store = detection_files.DetectionStore(_put(folder, "x.json", data), image_size=(100, 80))
  for image_id in list(store.ids())[:8]:
    store.get(image_id)


def _references(data: bytes, folder: pathlib.Path) -> None:
  path = _put(folder, "x.json", data)
  results_io.read_references(path, files.read_json(path, "references"))


def _shard(data: bytes, folder: pathlib.Path) -> None:
  for _, record in shards.read_all(_put(folder, "x.tfrecord", data)):
    shards.decode(record)


@functools.cache
def _model():
  import keras

  return keras.Sequential([keras.layers.Input([2]), keras.layers.Dense(1)])


def _checkpoint(data: bytes, folder: pathlib.Path) -> None:
  from gcap_tf.runs import checkpoints

  _put(folder, "step-00000001/manifest.json", data)
  states = checkpoints.StepCheckpoints(folder)
  states.check_fits(model=_model())
  checkpoints.damage(states.path(1))


def _weights(data: bytes, folder: pathlib.Path) -> None:
  from gcap_tf.runs import packed_weights

  packed_weights.read_arrays(_put(folder, "weights.npz", data))


def _picture(data: bytes, _: pathlib.Path) -> None:
  from gcap_tf.vision import pictures

  pictures.from_bytes(data, "x.jpg", 1 << 18)


def _json(value: object) -> bytes:
  return json.dumps(value).encode()


def _coco_seeds() -> list[bytes]:
  image = {"id": 7, "file_name": "7.jpg", "width": 100, "height": 80}
  captions = {
    "images": [image],
    "annotations": [{"id": 1, "image_id": 7, "caption": "A dog sees a ball."}],
  }
  box = {"id": 3, "image_id": 7, "category_id": 18, "bbox": [1, 2, 30, 40], "iscrowd": 0}
  instances = {
    "images": [image],
    "annotations": [box],
    "categories": [{"id": 18, "name": "dog"}],
  }
  return [_json(captions), _json(captions) + b"\0" + _json(instances)]


def _karpathy_seeds() -> list[bytes]:
  sentence = {"tokens": ["a", "dog"], "raw": "A dog.", "imgid": 0, "sentid": 1}
  image = {"filename": "7.jpg", "split": "train", "sentences": [sentence], "imgid": 0}
  return [_json({"dataset": "tiny", "images": [image]})]


def _detection_seeds() -> list[bytes]:
  row = {"image_id": 7, "bbox": [60, 40, 20, 30], "category": "person", "score": 0.97}
  image = {"id": 7, "width": 100, "height": 80, "file_name": "7.jpg"}
  named = {"image_id": 7, "bbox": [6, 4, 20, 30], "category_id": 18}
  whole = {
    "images": [image],
    "annotations": [named],
    "categories": [{"id": 18, "name": "dog"}],
  }
  return [_json([row, row]), _json(whole)]


def _reference_seeds() -> list[bytes]:
  caption = {
    "tokens": ["a", "dog"],
    "process_idx": [1],
    "process_clss": ["dog"],
    "process_bnd_box": [[1, 2, 3, 4]],
  }
  return [_json({"annotations": [{"image_id": 7, "captions": [caption]}]})]


def _submission_seeds() -> list[bytes]:
  caption = {"clss": ["dog"], "idx_in_sent": [1], "bbox": [[1, 2, 3, 4]]}
  return [_json({"results": {"7": [caption]}, "eval_mode": "gen"})]


def _activitynet_seeds() -> list[bytes]:
  segment = {
    "timestamps": [0.0, 5.0],
    "tokens": ["a", "dog"],
    "frame_ind": [3],
    "process_bnd_box": [[1, 2, 30, 40]],
    "process_clss": [["dog"]],
    "process_idx": [[1]],
    "crowds": [0],
  }
  video = {"duration": 9.0, "segments": {"0": segment}, "width": 100, "height": 80}
  annotation = {"annotations": {"v": video}, "vocab": ["dog"]}
  return [_json(annotation) + b"\0" + _json({"training": ["v"]})]


def _tsv_seeds() -> list[bytes]:
  def encoded(shape: tuple[int, int]) -> str:
    return base64.b64encode(np.ones(shape, np.float32).tobytes()).decode()

  boxes = base64.b64encode(np.array([[1, 2, 30, 40]] * 2, np.float32).tobytes()).decode()
  return ["\t".join(["7", "100", "80", "2", boxes, encoded((2, 3))]).encode() + b"\n"]


def _npz_seeds() -> list[bytes]:
  found = []
  for save in (np.savez, np.savez_compressed):
    file = io.BytesIO()
    save(file, feat=np.ones((2, 3), np.float32), labels=np.array(["dog", "man"]))
    found.append(file.getvalue())
  return found


def _npy_seeds() -> list[bytes]:
  found = []
  for array in (np.ones((2, 3), np.float32), np.array([{"a": [1.0]}], object)):
    file = io.BytesIO()
    np.save(file, array)
    found.append(file.getvalue())
  return found


def _hdf5_seeds() -> list[bytes]:
  file = io.BytesIO()
  with h5py.File(file, "w") as archive:
    archive["images"] = np.ones((2, 2, 3), np.float32)
  return [file.getvalue()]


def _shard_seeds() -> list[bytes]:
  scene = next(drawn_scenes.generate(drawn_scenes.SceneConfig(train=1, val=0, test=0, captions=1)))
  data = shards.encode(dataclasses.replace(scene, picture=b""))
  length = len(data).to_bytes(8, "little")
  return [length + shards._checksum(length) + data + shards._checksum(data)]


def _xml_seeds() -> list[bytes]:
  box = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>30</xmax><ymax>40</ymax></bndbox>"
  things = f"<object><name>1</name>{box}</object><object><name>2</name><scene>1</scene></object>"
  size = "<size><width>100</width><height>80</height></size>"
  return [f"<annotation>{size}{things}</annotation>".encode()]


def _words_seeds() -> list[bytes]:
  words = vocabulary.Vocabulary("captioner", ("", "dog", "UNK"), ("dog",))
  return [_json(words.to_json())]


READERS: dict[str, Reader] = {
  "annotations": Reader(lambda data, _: entities_boxes.parse(data, "x.xml"), _xml_seeds),
  "sentences": Reader(
    lambda data, _: entities_sentences.parse(data.decode("utf-8", "replace"), "x.txt"),
    lambda: [f"[/EN#1/other a red {word}] above [/EN#2/x/y it] .".encode() for word in ("box",)],
  ),
  "coco": Reader(_coco, _coco_seeds),
  "karpathy": Reader(_karpathy, _karpathy_seeds),
  "detections": Reader(_detections, _detection_seeds),
  "references": Reader(_references, _reference_seeds),
  "submission": Reader(
    lambda data, folder: results_io.read_submission(_put(folder, "x.json", data)), _submission_seeds
  ),
  "activitynet": Reader(_activitynet, _activitynet_seeds),
  "captions": Reader(
    lambda data, folder: coco_io.read_references(_put(folder, "x.json", data)), _coco_seeds
  ),
  "tsv": Reader(lambda data, folder: _store(_put(folder, "x.tsv", data).parent), _tsv_seeds),
  "npz": Reader(
    lambda data, folder: _store(_put(folder, "att/7.npz", data).parent.parent), _npz_seeds
  ),
  "weights": Reader(_weights, _npz_seeds),
  "objects": Reader(
    lambda data, folder: numpy_objects.load(_put(folder, "x.npy", data), "names"), _npy_seeds
  ),
  "hdf5": Reader(
    lambda data, folder: _store(_put(folder, "train_ims.h5", data).parent), _hdf5_seeds
  ),
  "tfrecord": Reader(_shard, _shard_seeds),
  "record": Reader(
    lambda data, _: shards.decode(data), lambda: [seed[12:-4] for seed in _shard_seeds()]
  ),
  "checkpoint": Reader(
    _checkpoint, lambda: [_json({"sha256": {"state": "0" * 64}, "variables": {"model": []}})]
  ),
  "vocabulary": Reader(
    lambda data, folder: vocabulary.Vocabulary.load(_put(folder, "x.json", data)), _words_seeds
  ),
  "jpeg": Reader(
    _picture,
    lambda: damaged_files.photographs(1, 0),
  ),
}
