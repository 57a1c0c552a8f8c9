"""Records as bytes, and files of them with random access.

A record is a serialised `tf.train.Example`; a shard is a TFRecord file:

    uint64 length | uint32 crc(length) | data | uint32 crc(data)        little-endian

crc is CRC-32C, rotated and shifted as TFRecord demands. TensorFlow reads these
files; this module reads and writes them without it.

Features of an example (n captions, R regions; f32 is raw little-endian float32):

    image/id, image/split, image/path   bytes        image/encoded    bytes, the picture file
    image/size                          int64 [2]    width, height
    captions/id, captions/text          bytes [n]
    captions/tokens, captions/tags      bytes [n]    words joined by one space
    phrases/caption, start, end         int64        which caption, which words
    phrases/entity                      bytes        phrases/kind_count, phrases/kinds
    phrases/box_count, phrases/boxes    int64, f32   boxes of all phrases in one row of bytes
    objects/caption, index              int64        objects/name bytes, objects/boxes f32
    objects/frame_count                 int64        boxes of each word in frames of a video, and
    objects/frame_places, frame_boxes   int64, f32   frame, number, crowd and box of all of them
    annotated/label, entity             bytes        annotated/boxes f32, annotated/frame int64
    annotated/attribute_count           int64        annotated/attributes bytes
    regions/count                       int64        missing: the record has no regions
    regions/boxes, features, scores     f32          missing: the source has none
    regions/labels, colours             bytes        regions/global, grid, blocks f32
    regions/features_columns,           bytes        bits of the columns that are written, if half
    regions/grid_columns                             of them or more hold zeros alone
    regions/feature_size, grid_shape    int64        D; cells and M of the grid
    regions/frame, span                 int64        frame of each region; the grid's segment
    segment/video, name                 bytes        missing: the record is a picture
    segment/numbers, dropped            int64        number, count, frames; empty words
    segment/times                       f32          start, end, duration

Features and grids whose values all fit into float16 are stored so, as regions/features16 and
regions/grid16: half the bytes, the same numbers.

The file holds words, never ids: any run can read it with any vocabulary.
"""

import hashlib
import os
import struct
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import google_crc32c
import numpy as np
from google.protobuf import message as protobuf_message

from gcap_tf import box_geometry, commands, errors, files
from gcap_tf.data import records
from gcap_tf.data.prepared import example_fields, example_proto, segments

_LENGTH = struct.Struct("<Q")
_CHECKSUM = struct.Struct("<I")
HEADER_BYTES = _LENGTH.size + _CHECKSUM.size
FOOTER_BYTES = _CHECKSUM.size
FIX = (
  "copy the file again or prepare the data again, then run "
  f"{commands.command('prepare_data')} --check"
)


def encode(record: records.Record) -> bytes:
  """Serialises a record; equal records give equal bytes."""
  example = example_proto.Example()
  out = example_fields.FeatureWriter(example.features.feature)
  out.text("image/id", [record.image_id])
  out.text("image/split", [record.split])
  out.text("image/path", [record.picture_path])
  out.integers("image/size", [record.width, record.height])
  out.raw("image/encoded", [record.picture])
  _encode_captions(out, record.captions)
  out.text("annotated/label", [thing.label for thing in record.annotated])
  out.text("annotated/entity", [thing.entity for thing in record.annotated])
  out.floats("annotated/boxes", [thing.box_px for thing in record.annotated])
  out.text_lists("annotated/attribute", [thing.attributes for thing in record.annotated])
  if record.segment is not None:
    segments.encode(out, record)
  if record.regions is not None:
    _encode_regions(out, record.regions)
  return example.SerializeToString(deterministic=True)


def decode(data: bytes) -> records.Record:
  """Rebuilds the record; arrays are read-only views of the parsed bytes."""
  try:
    found = example_fields.FeatureReader(example_proto.Example.FromString(data).features.feature)
    width, height = found.integers("image/size")
    return records.Record(
      image_id=found.text("image/id")[0],
      split=found.text("image/split")[0],
      width=width,
      height=height,
      captions=segments.with_frames(found, _decode_captions(found)),
      regions=_decode_regions(found) if found.has("regions/count") else None,
      annotated=tuple(
        records.AnnotatedObject(label, box, entity, attributes, frame)
        for label, box, entity, attributes, frame in zip(
          found.text("annotated/label"),
          found.floats("annotated/boxes").reshape(-1, 4),
          found.text("annotated/entity"),
          found.text_lists("annotated/attribute"),
          found.integers("annotated/frame") or [0] * len(found.text("annotated/label")),
          strict=True,
        )
      ),
      picture=found.raw("image/encoded")[0],
      picture_path=found.text("image/path")[0],
      segment=segments.decode(found),
    )
  except (protobuf_message.DecodeError, ValueError, IndexError) as error:
    raise errors.UserError(f"not a record of this program ({error})") from None


def _encode_captions(
  out: example_fields.FeatureWriter, captions: Sequence[records.Caption]
) -> None:
  out.text("captions/id", [caption.caption_id for caption in captions])
  out.text("captions/text", [caption.text for caption in captions])
  out.text("captions/tokens", [_joined(caption.tokens) for caption in captions])
  out.text("captions/tags", [_joined(caption.tags) for caption in captions])
  phrases = [(n, phrase) for n, caption in enumerate(captions) for phrase in caption.phrases]
  out.integers("phrases/caption", [n for n, _ in phrases])
  out.integers("phrases/start", [phrase.start for _, phrase in phrases])
  out.integers("phrases/end", [phrase.end for _, phrase in phrases])
  out.text("phrases/entity", [phrase.entity for _, phrase in phrases])
  out.text_lists("phrases/kind", [phrase.kinds for _, phrase in phrases])
  out.integers("phrases/box_count", [len(phrase.boxes_px) for _, phrase in phrases])
  out.floats("phrases/boxes", [phrase.boxes_px for _, phrase in phrases])
  objects = [(n, thing) for n, caption in enumerate(captions) for thing in caption.objects]
  out.integers("objects/caption", [n for n, _ in objects])
  out.integers("objects/index", [thing.index for _, thing in objects])
  out.text("objects/name", [thing.name for _, thing in objects])
  out.floats("objects/boxes", [thing.box_px for _, thing in objects])


def _decode_captions(found: example_fields.FeatureReader) -> tuple[records.Caption, ...]:
  ids = found.text("captions/id")
  phrases: list[list[records.Phrase]] = [[] for _ in ids]
  objects: list[list[records.ObjectWord]] = [[] for _ in ids]
  box_counts = found.integers("phrases/box_count")
  boxes = np.split(found.floats("phrases/boxes").reshape(-1, 4), np.cumsum(box_counts)[:-1])
  for n, start, end, entity, kinds, boxes_px in zip(
    found.integers("phrases/caption"),
    found.integers("phrases/start"),
    found.integers("phrases/end"),
    found.text("phrases/entity"),
    found.text_lists("phrases/kind"),
    boxes if box_counts else [],
    strict=True,
  ):
    phrases[n].append(records.Phrase(start, end, entity, kinds, boxes_px))
  for n, index, name, box_px in zip(
    found.integers("objects/caption"),
    found.integers("objects/index"),
    found.text("objects/name"),
    found.floats("objects/boxes").reshape(-1, 4),
    strict=True,
  ):
    objects[n].append(records.ObjectWord(index, name, box_px))
  return tuple(
    records.Caption(caption_id, text, _split(tokens), _split(tags), tuple(spans), tuple(things))
    for caption_id, text, tokens, tags, spans, things in zip(
      ids,
      found.text("captions/text"),
      found.text("captions/tokens"),
      found.text("captions/tags"),
      phrases,
      objects,
      strict=True,
    )
  )


def _encode_regions(out: example_fields.FeatureWriter, regions: records.Regions) -> None:
  out.integers("regions/count", [regions.count])
  for name, rows in (
    ("regions/boxes", regions.boxes_px),
    ("regions/scores", regions.scores),
    ("regions/global", regions.global_feature),
    ("regions/blocks", regions.position_blocks),
  ):
    if rows is not None:
      out.floats(name, [rows])
  if regions.features is not None:
    out.integers("regions/feature_size", [regions.features.shape[1]])
    out.table("regions/features", regions.features)
  if regions.grid_features is not None:
    out.integers("regions/grid_shape", regions.grid_features.shape)
    out.table("regions/grid", regions.grid_features)
  out.text("regions/labels", regions.labels)
  if regions.colours:
    out.text("regions/colours", regions.colours)
  if regions.frame is not None:
    out.integers("regions/frame", regions.frame.tolist())
  if regions.span is not None:
    out.integers("regions/span", regions.span)


def _decode_regions(found: example_fields.FeatureReader) -> records.Regions:
  (count,) = found.integers("regions/count")

  def rows(name: str, *shape: int) -> np.ndarray | None:
    return found.floats(name).reshape(shape) if found.has(name) else None

  def table(name: str, *shape: int) -> np.ndarray | None:
    return found.table(f"regions/{name}", *shape) if len(shape) == 2 else None

  return records.Regions(
    boxes_px=rows("regions/boxes", count, 4),
    features=table("features", count, *found.integers("regions/feature_size")),
    labels=found.text("regions/labels"),
    scores=rows("regions/scores", count),
    global_feature=rows("regions/global", -1),
    grid_features=table("grid", *found.integers("regions/grid_shape")),
    colours=found.text("regions/colours"),
    position_blocks=rows("regions/blocks", count, 2 * box_geometry.PFAN_BLOCKS),
    frame=segments.frame_of_regions(found),
    span=tuple(found.integers("regions/span")) or None,
  )


def _joined(words: Sequence[str]) -> str:
  for word in words:
    if not word or " " in word:
      raise errors.UserError(f"word {word!r} is empty or holds a space; words must not")
  return " ".join(words)


def _split(words: str) -> tuple[str, ...]:
  return tuple(words.split(" ")) if words else ()


class ShardWriter:
  """Writes a TFRecord file; `write` returns the offset of each record.

  Attributes:
    sha256: running hash of everything written.
    size: bytes written so far.
  """

  def __init__(self, path: files.PathLike):
    self._file = open(path, "wb")  # noqa: SIM115 - closed by __exit__
    self.sha256 = hashlib.sha256()
    self.size = 0

  def __enter__(self) -> "ShardWriter":
    return self

  def __exit__(self, *unused) -> None:
    self._file.close()

  def write(self, data: bytes) -> int:
    """Appends one record; returns the offset to give to `read_at`."""
    offset = self.size
    length = _LENGTH.pack(len(data))
    for part in (length, _checksum(length), data, _checksum(data)):
      self._file.write(part)
      self.sha256.update(part)
      self.size += len(part)
    return offset


def read_at(file: BinaryIO, offset: int, number: int | None = None) -> bytes:
  """Reads the record at `offset` and checks both its checksums; safe from many threads.

  Args:
    file: a shard opened for reading in binary.
    offset: what `ShardWriter.write` returned.
    number: position of the record in the shard, for the message if it is damaged.
  """

  def damaged(reason: str) -> errors.UserError:
    which = "a record" if number is None else f"record {number}"
    return errors.UserError(f"shard {file.name}: {which} at byte {offset} {reason}; {FIX}")

  header = os.pread(file.fileno(), HEADER_BYTES, offset)
  if len(header) < HEADER_BYTES:
    raise damaged("is cut off")
  if _checksum(header[: _LENGTH.size]) != header[_LENGTH.size :]:
    raise damaged("has a damaged length (checksums differ)")
  (length,) = _LENGTH.unpack(header[: _LENGTH.size])
  body = os.pread(file.fileno(), length + FOOTER_BYTES, offset + HEADER_BYTES)
  if len(body) < length + FOOTER_BYTES:
    raise damaged("is cut off")
  data = body[:length]
  if _checksum(data) != body[length:]:
    raise damaged("is damaged (checksums differ)")
  return data


def read_all(path: files.PathLike) -> Iterator[tuple[int, bytes]]:
  """Offset and data of every record of a shard, in order."""
  with open(path, "rb") as file:
    size, offset, number = os.fstat(file.fileno()).st_size, 0, 0
    while offset < size:
      data = read_at(file, offset, number)
      yield offset, data
      offset += HEADER_BYTES + len(data) + FOOTER_BYTES
      number += 1


def _checksum(data: bytes) -> bytes:
  """The masked CRC-32C of the TFRecord format."""
  crc = google_crc32c.value(data)
  rotated = ((crc >> 15) | (crc << 17)) & 0xFFFFFFFF
  return _CHECKSUM.pack((rotated + 0xA282EAD8) & 0xFFFFFFFF)
