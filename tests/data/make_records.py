"""Small records made by hand, and a prepared folder of them, for tests."""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence

import numpy as np

from gcap_tf.data import records
from gcap_tf.data.prepared import prepared_data, prepared_writer

NOUNS = ("cat", "dog", "man", "ball", "tree", "hat")
COLOURS = ("red", "blue", "green")
VERBS = ("sees", "holds", "chases")
_TAGS = {"a": "DET", ".": "PUNCT", "very": "ADV"}


def make_records(
  count: int,
  seed: int = 0,
  *,
  split: str = "train",
  regions: int = 4,
  feature_size: int = 8,
  captions: int | Sequence[int] = 5,
  boxes: bool = True,
  labels: bool = True,
  global_size: int = 0,
  blocks: bool = False,
  grid: tuple[int, int] | None = None,
) -> list[records.Record]:
  """Pictures of 100 x 50 pixels; every noun of a caption has its own region.

  Captions read "a red cat sees a dog": two annotated objects, 6 to 9 words. Region 0 is
  exactly the box of the first object, region 1 that of the second, others are random.

  Args:
    count: pictures; their ids are numbers, different for each seed and split.
    seed: of everything random.
    split: name of the split.
    regions: regions of each picture, at least 2.
    feature_size: D.
    captions: captions of each picture, or the numbers to draw from.
    boxes, labels: whether regions carry them.
    global_size: G, 0 for none.
    blocks: gives regions PFAN's position blocks: all in block n, for picture n.
    grid: cells and M of a grid; regions have scores then.
  """
  rng = np.random.default_rng([seed, *split.encode()])
  first_id = 1000 + 100_000 * seed + 10_000 * sum(split.encode())
  numbers = [captions] if isinstance(captions, int) else list(captions)
  pictures = [
    _picture(
      rng, str(first_id + n), split, regions, feature_size, rng.choice(numbers), boxes, labels,
      global_size,
    )
    for n in range(count)
  ]  # fmt: skip
  if grid:
    pictures = [_with_grid(rng, record, grid) for record in pictures]
  return [_with_blocks(*item) for item in enumerate(pictures)] if blocks else pictures


def _with_grid(rng, record: records.Record, shape: tuple[int, int]) -> records.Record:
  regions = dataclasses.replace(
    record.regions,
    grid_features=rng.normal(size=shape).astype(np.float32),
    scores=rng.random(record.regions.count, np.float32),
  )
  return dataclasses.replace(record, regions=regions)


def _with_blocks(number: int, record: records.Record) -> records.Record:
  own = np.tile([number] * 15 + [1 / 15] * 15, [record.regions.count, 1]).astype(np.float32)
  return dataclasses.replace(
    record, regions=dataclasses.replace(record.regions, position_blocks=own)
  )


def _picture(
  rng, image_id, split, regions, feature_size, captions, boxes, labels, global_size
) -> records.Record:
  width, height = 100, 50
  corners = np.sort(rng.integers(0, 25, [regions, 2, 2]), axis=1)  # [R, 2 corners, x y]
  boxes_px = (corners.reshape(regions, 4) + np.array([0, 0, 3, 3])).astype(np.float32)
  names = rng.choice(NOUNS, regions)
  return records.Record(
    image_id=image_id,
    split=split,
    width=width,
    height=height,
    captions=tuple(
      _caption(rng, f"{image_id}{n}", names[:2], boxes_px[:2]) for n in range(captions)
    ),
    regions=records.Regions(
      boxes_px=boxes_px if boxes else None,
      features=rng.normal(size=[regions, feature_size]).astype(np.float32),
      labels=tuple(map(str, names)) if labels else (),
      global_feature=rng.normal(size=global_size).astype(np.float32) if global_size else None,
    ),
    annotated=tuple(
      records.AnnotatedObject(str(name), box, entity=str(n))
      for n, (name, box) in enumerate(zip(names[:2], boxes_px[:2], strict=True))
    ),
  )


def _caption(rng, caption_id, names, boxes_px) -> records.Caption:
  start = ["a"] + ["very"] * int(rng.integers(0, 3)) + [str(rng.choice(COLOURS)), str(names[0])]
  end = [str(rng.choice(VERBS)), "a", str(names[1])] + ["."] * int(rng.integers(0, 2))
  tokens = start + end
  first, second = len(start) - 1, len(start) + 2

  def tag(word: str) -> str:
    if word in NOUNS:
      return "NOUN"
    return "ADJ" if word in COLOURS else _TAGS.get(word, "VERB")

  return records.Caption(
    caption_id=caption_id,
    text=" ".join(tokens).capitalize(),
    tokens=tuple(tokens),
    tags=tuple(map(tag, tokens)),
    phrases=(
      records.Phrase(0, first + 1, "0", ("animals",), boxes_px[:1]),
      records.Phrase(second - 1, second + 1, "1", (), boxes_px[1:2]),
    ),
    objects=(
      records.ObjectWord(first, str(names[0]), boxes_px[0]),
      records.ObjectWord(second, str(names[1]), boxes_px[1]),
    ),
  )


def write_folder(
  folder: pathlib.Path, splits: Mapping[str, Sequence[records.Record]], shards: int = 2
) -> prepared_data.PreparedData:
  """A prepared folder of the given records."""
  folder.mkdir(parents=True)
  summaries = []
  for split, items in splits.items():
    count = min(shards, len(items))
    bounds = [number * len(items) // count for number in range(count + 1)]
    summaries += [
      prepared_writer.write_shard(
        folder, split, number, count, items[bounds[number] : bounds[number + 1]]
      )
      for number in range(count)
    ]
  prepared_writer.finish(
    folder,
    summaries,
    dataset="hand_made",
    command="tests",
    detector={},
    object_classes=NOUNS,
    lemma=str,
  )
  return prepared_data.PreparedData(folder)


def prepare_small(
  folder: pathlib.Path, train: int = 12, val: int = 5, seed: int = 0, **options
) -> prepared_data.PreparedData:
  """A prepared folder with splits train and val; `options` as for `make_records`."""
  return write_folder(
    folder,
    {
      "train": make_records(train, seed, split="train", **options),
      "val": make_records(val, seed, split="val", **options),
    },
  )
