"""A matcher's attention over a split, computed once and kept on disk.

Distillation needs the teacher's attention of every caption in every epoch; the teacher is
frozen, so it runs once. The file's name holds a fingerprint of teacher and data, so another
teacher or other data give another file; a half-written file is never used.

The cache keeps [words, regions] of each caption, one after the other, in one memory-mapped
array: word t of a caption is at slot t + 1 of a matcher's tokens (after <start>).
"""

import dataclasses
import json
import pathlib

import numpy as np
import tensorflow as tf

from gcap_tf import errors, files, fingerprints, progress
from gcap_tf.data.prepared import pipeline, prepared_data
from gcap_tf.matchers import base
from gcap_tf.runs import run_folders
from gcap_tf.text import vocabulary as vocabularies

_FIRST_WORD = 1


class TeacherCache:
  """Attention by caption; see `open_or_compute`.

  Args:
    folder: written by `open_or_compute`.
  """

  def __init__(self, folder: files.PathLike):
    self.folder = pathlib.Path(folder)
    index = files.read_json(self.folder / "index.json", "teacher cache")
    self._places: dict[str, tuple[int, int, int]] = {
      caption: tuple(place) for caption, place in index["captions"].items()
    }
    self._values = np.load(self.folder / "attention.npy", mmap_mode="r")

  def __len__(self) -> int:
    return len(self._places)

  def get(self, caption_id: str) -> np.ndarray:
    """[words, regions] float32 of a caption; its rows sum to 1 or are all 0."""
    if caption_id not in self._places:
      raise errors.UserError(
        f'teacher cache {self.folder} has no caption "{caption_id}"; it was made from other '
        "data, remove the folder to compute it again"
      )
    start, words, regions = self._places[caption_id]
    rows = self._values[start : start + words * regions]
    return np.array(rows.reshape(words, regions))


def fingerprint(
  teacher: base.Matcher, vocabulary: vocabularies.Vocabulary, split: prepared_data.Split
) -> str:
  """Short hash of the teacher's options and weights, its words, and the split's files."""
  options = [type(teacher).__name__, dataclasses.asdict(teacher.config), vocabulary.fingerprint]
  contents = {name: entry for name, entry in split.data.info["files"].items() if split.name in name}
  return fingerprints.of(
    json.dumps(options, sort_keys=True, default=str),
    teacher.variables,
    json.dumps([split.name, contents], sort_keys=True),
  )


def open_or_compute(
  teacher: run_folders.Run,
  split: prepared_data.Split,
  folder: files.PathLike | None = None,
  images: int = 64,
) -> TeacherCache:
  """The cache of this teacher over this split; computed if it does not exist.

  Args:
    teacher: a run that holds a matcher; it runs without dropout.
    split: pictures and captions.
    folder: folder of all caches; None takes one in the teacher's run folder.
    images: captions that the teacher sees at once.
  """
  folder = pathlib.Path(folder or teacher.folder / "attention")
  mark = fingerprint(teacher.model, teacher.vocabulary, split)
  path = folder / f"{split.data.name}-{split.name}-{mark}"
  if not (path / "index.json").exists():
    _compute(path, teacher.model, teacher.vocabulary, split, images)
  return TeacherCache(path)


def _compute(path, teacher, vocabulary, split, images) -> None:
  config = pipeline.BatchConfig(
    images=images, items="caption", max_words=0, shuffle=False, **teacher.batch_options
  )

  @tf.function(autograph=False, reduce_retracing=True)
  def attend(batch):
    return teacher.attention(teacher.encode_images(batch), teacher.encode_captions(batch))

  places, rows, position = {}, [], 0
  with progress.bar(
    label="teacher attention", total=len(split.caption_pictures), unit="caption"
  ) as bar:
    for batch in pipeline.evaluation_batches(split, vocabulary, config):
      attention = attend(batch).numpy()
      real = np.flatnonzero(batch["example_mask"].numpy())
      for n in real:
        caption = batch["caption_id"][n].numpy().decode()
        words = int(batch["token_mask"][n].numpy().sum()) - 2
        regions = int(batch["region_mask"][n].numpy().sum())
        block = attention[n, _FIRST_WORD : _FIRST_WORD + words, :regions]
        places[caption] = (position, words, regions)
        rows.append(block.reshape(-1))
        position += block.size
      bar.update(len(real))
  with files.atomic_path(path) as partial:
    partial.mkdir()
    np.save(partial / "attention.npy", np.concatenate(rows) if rows else np.zeros(0, np.float32))
    files.write_json(partial / "index.json", {"captions": places}, None)
