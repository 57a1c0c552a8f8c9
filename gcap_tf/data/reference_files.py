"""Reference files of a prepared folder, in the usual schemas.

    references_{split}.json  object words and their boxes (Flickr30k Entities' evaluator, or that of
                             ActivityNet-Entities if the data is of videos)
    captions_{split}.json    captions (COCO)

The maker of a shard writes rows to part files, one JSON object per line. Joining them
streams, since the reference file of a large dataset may not fit in memory.
"""

import itertools
import json
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gcap_tf.data import records


def number_or_text(image_id: str) -> int | str:
  """The id as the field's JSON files write it: an integer if it is one."""
  return int(image_id) if image_id.isdecimal() and str(int(image_id)) == image_id else image_id


def reference_row(record: records.Record) -> dict[str, Any]:
  """The picture in the schema of the grounding evaluator's reference file."""
  if record.segment is not None:
    return segment_row(record)
  return {
    "image_id": number_or_text(record.image_id),
    "image_size": [record.width, record.height],
    "captions": [
      {
        "tokens": list(caption.tokens),
        "process_clss": [thing.name for thing in caption.objects],
        "process_idx": [thing.index for thing in caption.objects],
        "process_bnd_box": [thing.box_px.tolist() for thing in caption.objects],
        "word_idx": [list(range(p.start, p.end)) for p in caption.phrases if len(p.boxes_px)],
        "bnd_box": [p.boxes_px.tolist() for p in caption.phrases if len(p.boxes_px)],
      }
      for caption in record.captions
    ],
  }


def segment_row(record: records.Record) -> dict[str, Any]:
  """A segment in the schema of ActivityNet-Entities, and the video that it belongs to."""
  segment = record.segment
  caption = record.captions[0] if record.captions else None
  tokens = list(caption.tokens) if caption else []
  for gap in segment.dropped:
    tokens.insert(gap, "")
  boxes: dict[int, tuple[records.FrameBox, list[str], list[int]]] = {}
  for word in caption.objects if caption else ():
    for box in word.frame_boxes:
      _, names, places = boxes.setdefault(box.number, (box, [], []))
      names.append(word.name)
      places.append(segment.distributed_index(word.index))
  listed = [boxes[number] for number in sorted(boxes)]
  return {
    "video": segment.video,
    "duration": seconds(segment.duration),
    "segment": segment.name,
    "annotation": {
      "timestamps": [seconds(segment.start), seconds(segment.end)],
      "tokens": tokens,
      "frame_ind": [box.frame for box, _, _ in listed],
      "process_bnd_box": [box.box_px.tolist() for box, _, _ in listed],
      "process_clss": [names for _, names, _ in listed],
      "process_idx": [places for _, _, places in listed],
      "crowds": [int(box.crowd) for box, _, _ in listed],
    },
  }


def seconds(time: float) -> float:
  """Without the digits that float32 adds."""
  return round(time, 3)


def image_row(record: records.Record) -> dict[str, Any]:
  """The picture in COCO's schema."""
  row = {"id": number_or_text(record.image_id), "width": record.width, "height": record.height}
  name = pathlib.PurePath(record.picture_path).name
  return {**row, "file_name": name} if name else row


def caption_rows(record: records.Record) -> list[dict[str, Any]]:
  """The captions in COCO's schema."""
  return [
    {
      "id": number_or_text(caption.caption_id),
      "image_id": number_or_text(record.image_id),
      "caption": caption.text,
    }
    for caption in record.captions
  ]


PARTS = {
  "references": lambda record: [reference_row(record)],
  "images": lambda record: [image_row(record)],
  "captions": caption_rows,
}


def part_path(folder: pathlib.Path, kind: str, split: str, number: int) -> pathlib.Path:
  """The part file of a kind of `PARTS` that belongs to a shard."""
  return folder / f"{kind}_{split}.part-{number:05d}"


def join_references(
  path: pathlib.Path,
  classes: Sequence[str],
  lemma: Callable[[str], str],
  parts: Sequence[pathlib.Path],
) -> None:
  """The reference file of a split; the part files are removed.

  References of videos have no table of lemmas: the official ones have none.
  """
  if not _are_segments(parts):
    lemmas = {lemma(name): name for name in classes}
    head = {"vocab": list(classes), "lemma2w": lemmas}
    join_parts(path, head, {"annotations": parts})
    return
  with open(path, "w", encoding="utf-8") as out:
    out.write(json.dumps({"vocab": list(classes)}, ensure_ascii=False)[:-1])
    out.write(', "annotations": {')
    separator = "\n"
    # The segments of a video follow each other, maybe across the end of a part.
    for video, rows in itertools.groupby(_rows(parts), key=lambda row: row["video"]):
      own = list(rows)
      value = {
        "duration": own[0]["duration"],
        "segments": {row["segment"]: row["annotation"] for row in own},
      }
      out.write(f"{separator}{json.dumps(video)}: {json.dumps(value, ensure_ascii=False)}")
      separator = ",\n"
    out.write("\n}}\n")
  for part in parts:
    part.unlink()


def _are_segments(parts: Sequence[pathlib.Path]) -> bool:
  return any("segment" in row for row in itertools.islice(_rows(parts), 1))


def _rows(parts: Sequence[pathlib.Path]) -> Iterator[dict[str, Any]]:
  for part in parts:
    with open(part, encoding="utf-8") as lines:
      yield from map(json.loads, lines)


def join_parts(
  path: pathlib.Path, head: Mapping[str, Any], lists: Mapping[str, Sequence[pathlib.Path]]
) -> None:
  """One JSON object: the head, then lists whose rows are the lines of part files.

  The part files are removed.
  """
  with open(path, "w", encoding="utf-8") as out:
    out.write(json.dumps(head, ensure_ascii=False)[:-1])
    for name, parts in lists.items():
      out.write(f", {json.dumps(name)}: [")
      separator = "\n"
      for part in parts:
        with open(part, encoding="utf-8") as lines:
          for line in lines:
            out.write(separator + line.rstrip("\n"))
            separator = ",\n"
        part.unlink()
      out.write("\n]")
    out.write("}\n")
