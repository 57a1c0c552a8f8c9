"""Tiny raw datasets on disk, for tests of data preparation."""

import json
import pathlib

import numpy as np


def write_karpathy(folder: pathlib.Path, counts: dict[str, int]) -> list[str]:
  """A split file; returns the ids of all pictures. Captions have no tags yet."""
  folder.mkdir(parents=True, exist_ok=True)
  images = []
  for split, count in counts.items():
    for _ in range(count):
      number = len(images)
      words = ["a", "dog", "sees", "the", ("ball", "tree", "man")[number % 3]]
      sentences = [
        {"tokens": words, "raw": " ".join(words) + ".", "imgid": number, "sentid": 2 * number + n}
        for n in range(2)
      ]
      images.append(
        {"filename": f"{100 + number}.jpg", "split": split, "sentences": sentences, "imgid": number}
      )
  path = folder / "dataset_tiny.json"
  path.write_text(json.dumps({"dataset": "tiny", "images": images}))
  return [image["filename"][:-4] for image in images]


def write_store(folder: pathlib.Path, ids: list[str], regions: int = 3, feature_size: int = 4):
  """Folders att and box of random regions in pictures of 40 x 30 pixels."""
  rng = np.random.default_rng(0)
  for name in ("att", "box"):
    (folder / name).mkdir(parents=True)
  for image_id in ids:
    np.savez(folder / "att" / f"{image_id}.npz", feat=_features(rng, regions, feature_size))
    low = rng.uniform(0, 15, [regions, 2])
    boxes = np.concatenate([low, low + rng.uniform(2, 10, [regions, 2])], 1)
    np.save(folder / "box" / f"{image_id}.npy", boxes.astype(np.float32))


def write_precomp(folder: pathlib.Path, rows: int = 3) -> None:
  """SCAN arrays with two captions a picture; splits train and dev."""
  folder.mkdir(parents=True, exist_ok=True)
  rng = np.random.default_rng(0)
  for split in ("train", "dev"):
    np.save(folder / f"{split}_ims.npy", np.stack([_features(rng, 3, 4) for _ in range(rows)]))
    captions = [f"A dog sees ball number {n}." for n in range(2 * rows)]
    (folder / f"{split}_caps.txt").write_text("\n".join(captions) + "\n")


def _features(rng: np.random.Generator, regions: int, feature_size: int) -> np.ndarray:
  return rng.normal(size=[regions, feature_size]).astype(np.float32)
