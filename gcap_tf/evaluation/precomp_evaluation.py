"""Evaluates matchers directly on a SCAN `precomp` folder, as the official programs do.

Captions are split as the run's own program splits them (`tokenizer` in its config.json:
NLTK's rules for SCAN, PFAN and SGRAF, white space for POS-SCAN); BFAN reads word ids from
`{split}_precaps.txt` if that file exists.
"""

import dataclasses
import pathlib
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from gcap_tf import batch as batches
from gcap_tf import errors, files, progress
from gcap_tf.data import source_files
from gcap_tf.data.readers import precomp
from gcap_tf.data.stores import precomp_arrays
from gcap_tf.evaluation import matcher_evaluation
from gcap_tf.matchers import blocks, ensemble
from gcap_tf.metrics import retrieval
from gcap_tf.runs import run_folders
from gcap_tf.text import tagging

_BATCH = 64


@dataclasses.dataclass(frozen=True)
class Sentences:
  """Captions as ids with a noun flag for each, start and end included."""

  ids: list[list[int]]
  nouns: list[list[bool]]


def evaluate_runs(
  folders: Sequence[str], source: files.PathLike, split: str, folds: int = 1
) -> tuple[dict[str, float], np.ndarray]:
  """Retrieval figures of a run, or of an ensemble of runs, and the similarities [I, C]."""
  matrices = []
  for folder in folders:
    run = run_folders.load(folder, "matcher")
    matrices.append(similarity_of(run, pathlib.Path(source), split))
  similarity = ensemble.mean_similarity(matrices)
  per_image = similarity.shape[1] // similarity.shape[0]
  matcher_evaluation.warn_unless_five_captions(
    np.full(len(similarity), per_image), f"{source}, {split}"
  )
  owner = np.repeat(np.arange(len(similarity)), per_image)
  score = retrieval.retrieval if folds == 1 else retrieval.five_fold
  return score(similarity, owner), similarity


def similarity_of(run: run_folders.Run, folder: pathlib.Path, split: str) -> np.ndarray:
  """Similarity [I, C] of a run on one split of the folder."""
  arrays = precomp_arrays.PrecompArrays(folder, split)
  if not arrays.features_file.exists():
    raise errors.UserError(
      f"{arrays.features_file} does not exist; does the folder have the split {split!r}?"
    )
  expected, found = run.model.config.feature_size, arrays.features.shape[-1]
  if expected != found:
    raise errors.UserError(
      f"{arrays.features_file} has regions of {found} features, {run.folder} was trained on "
      f"{expected}"
    )
  sentences = read_sentences(run, folder, split, len(arrays))
  rows = picture_rows(arrays, len(sentences.ids))
  images = encode_images(run, arrays, rows)
  captions = encode_captions(run, sentences)
  return blocks.similarity_matrix(run.model, images, captions)


def picture_rows(arrays: precomp_arrays.PrecompArrays, captions: int) -> np.ndarray:
  """Rows of different pictures: some releases repeat a picture's row for each caption."""
  rows = len(arrays)
  repeated = rows == captions and rows % 5 == 0 and _first_five_are_equal(arrays.features)
  return np.arange(0, rows, 5 if repeated else 1)


def _first_five_are_equal(features: np.ndarray) -> bool:
  return all(np.array_equal(features[0], features[row]) for row in range(1, 5))


def read_sentences(run: run_folders.Run, folder: pathlib.Path, split: str, rows: int) -> Sentences:
  """The split's captions in the ids of the run's vocabulary."""
  ids_path = folder / f"{split}_precaps.txt"
  if run.model.captions_as_ids and ids_path.is_file():
    ids = [_given_ids(line, n, ids_path, run) for n, line in _lines(ids_path)]
    precomp.captions_per_row(ids_path, len(ids), split, rows)
    return Sentences(ids, [[False] * len(row) for row in ids])
  style = run.config.get("tokenizer", "treebank")
  captions = precomp.PrecompCaptions(folder, split, rows, style, run.folder / "vocabulary.json")
  tags = captions.tags
  if run.model.noun_tags and not tags[0]:
    print(f"No {split}_tags.txt in {folder}: tagging parts of speech here")
    tags = tagging.load_tagger().tag([list(tokens) for tokens in captions.tokens])
  scored = run.model.noun_tags
  nouns = [[False, *(tag in scored for tag in row), False] for row in tags]
  ids = [run.vocabulary.encode(tokens) for tokens in captions.tokens]
  if not scored:
    nouns = [[False] * len(row) for row in ids]
  return Sentences(ids, nouns)


def encode_images(
  run: run_folders.Run, arrays: precomp_arrays.PrecompArrays, rows: np.ndarray
) -> dict[str, np.ndarray]:
  """Encodes the pictures of the given rows, once each."""
  encode = tf.function(run.model.encode_images, autograph=False, reduce_retracing=True)
  pieces: dict[str, list[np.ndarray]] = {}
  starts = range(0, len(rows), _BATCH)
  for start in progress.bar(starts, label="encoding pictures", unit="batch"):
    batch = image_batch(arrays, rows[start : start + _BATCH])
    for name, tensor in encode(batch).items():
      pieces.setdefault(name, []).append(tensor.numpy())
  return {name: np.concatenate(parts) for name, parts in pieces.items()}


def image_batch(arrays: precomp_arrays.PrecompArrays, rows: np.ndarray) -> dict[str, tf.Tensor]:
  """Pictures as the matchers' batch has them; boxes are 0 if the folder has none."""
  features = np.asarray(arrays.features[rows[0] : rows[-1] + 1], np.float32)[rows - rows[0]]
  if features.ndim == 2:
    features = features[:, np.newaxis]
  pictures = [{"features": own, "global_feature": own.mean(0)} for own in features]
  if arrays.boxes is not None and arrays.sizes is not None:
    boxes = np.asarray(arrays.boxes[rows], np.float32) / np.tile(arrays.sizes[rows], 2)[:, None]
    for picture, own in zip(pictures, boxes, strict=True):
      picture["boxes"] = own
  optional = [] if arrays.blocks is None else ["position_blocks"]
  if optional:
    for picture, own in zip(pictures, arrays.blocks[rows], strict=True):
      picture["position_blocks"] = own
  regions, depth = features.shape[1:]
  found = [batches.region_row(regions, **picture) for picture in pictures]
  sizes = {"R": regions, "D": depth, "G": depth}
  return batches.tensors(batches.build(found, batches.names(["regions"], optional), sizes))


def encode_captions(run: run_folders.Run, sentences: Sentences) -> blocks.CaptionStore:
  """Encodes all captions; each batch is padded to its longest."""
  encode = tf.function(run.model.encode_captions, autograph=False, reduce_retracing=True)
  store = blocks.CaptionStore()
  starts = range(0, len(sentences.ids), _BATCH)
  for start in progress.bar(starts, label="encoding captions", unit="batch"):
    stop = start + _BATCH
    batch = caption_batch(sentences.ids[start:stop], sentences.nouns[start:stop])
    store.add({name: tensor.numpy() for name, tensor in encode(batch).items()})
  return store


def caption_batch(ids: list[list[int]], nouns: list[list[bool]]) -> dict[str, tf.Tensor]:
  """Captions padded to the longest of them."""
  rows = [
    {"tokens": sentence, "token_mask": np.ones(len(sentence), bool), "noun_mask": flags}
    for sentence, flags in zip(ids, nouns, strict=True)
  ]
  sizes = {"T": max(map(len, ids))}
  wanted = ["tokens", "token_mask", "noun_mask"]
  return batches.tensors(batches.build(rows, wanted, sizes))


def _lines(path: pathlib.Path) -> Iterator[tuple[int, str]]:
  return enumerate(source_files.read_lines(path, "captions"), 1)


def _given_ids(line: str, number: int, path: pathlib.Path, run: run_folders.Run) -> list[int]:
  try:
    ids = [int(field) for field in line.replace(",", " ").split()]
  except ValueError:
    ids = []
  if not ids or not 0 <= min(ids) <= max(ids) < run.vocabulary.size:
    raise errors.UserError(
      f"{path}, line {number}: {line[:40]!r}; expected comma separated word ids below "
      f"{run.vocabulary.size}, the size of the vocabulary of {run.folder}"
    )
  return ids
