"""Reference files of a prepared folder, in the usual schemas.

    references_{split}.json  object words and their boxes (Flickr30k Entities' evaluator)
    captions_{split}.json    captions (COCO)

The maker of a shard writes rows to part files, one JSON object per line. Joining them
streams, since the reference file of a large dataset may not fit in memory.
"""

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from gcap_tf.data import records


def number_or_text(image_id: str) -> int | str:
  """The id as the field's JSON files write it: an integer if it is one."""
  return int(image_id) if image_id.isdecimal() and str(int(image_id)) == image_id else image_id


def reference_row(record: records.Record) -> dict[str, Any]:
  """The picture in the schema of the grounding evaluator's reference file."""
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
