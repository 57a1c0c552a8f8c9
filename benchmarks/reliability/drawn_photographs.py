"""A few drawn photographs with annotations in the format of Flickr30k Entities."""

import pathlib

import numpy as np
from PIL import Image

WORDS = ("ball", "box")
COLOURS = {"red": (200, 20, 20), "blue": (20, 20, 200)}


def make(folder: pathlib.Path, train: int = 6, val: int = 2) -> tuple[pathlib.Path, pathlib.Path]:
  """Writes FOLDER/entities, FOLDER/pictures and FOLDER/flickr30k_class_name.txt."""
  source, pictures = folder / "entities", folder / "pictures"
  for name in ("Annotations", "Sentences"):
    (source / name).mkdir(parents=True)
  pictures.mkdir()
  (folder / "flickr30k_class_name.txt").write_text("\n".join(WORDS) + "\n")
  names = [str(100 + number) for number in range(train + val)]
  (source / "train.txt").write_text("\n".join(names[:train]) + "\n")
  (source / "val.txt").write_text("\n".join(names[train:]) + "\n")
  for number, name in enumerate(names):
    _picture(source, pictures, name, np.random.default_rng(number))
  return source, pictures


def _picture(source, pictures, name, rng):
  """Two things, one above the other; the XML speaks of a picture twice as large."""
  image = np.full((48, 64, 3), 128, np.uint8)
  boxes, phrases = [], []
  for chain, (word, low) in enumerate(zip(WORDS, (2, 26), strict=True), 1):
    colour = str(rng.choice(list(COLOURS)))
    x, side = int(rng.integers(0, 40)), int(rng.integers(14, 20))
    image[low : low + side, x : x + side] = COLOURS[colour]
    edges = zip(("xmin", "ymin", "xmax", "ymax"), (x, low, x + side, low + side), strict=True)
    corners = "".join(f"<{edge}>{2 * value + 1}</{edge}>" for edge, value in edges)
    boxes.append(f"<object><name>{chain}</name><bndbox>{corners}</bndbox></object>")
    phrases.append(f"[/EN#{chain}/other a {colour} {word}]")
  size = "<size><width>128</width><height>96</height></size>"
  xml = f"<annotation>{size}{''.join(boxes)}</annotation>"
  (source / "Annotations" / f"{name}.xml").write_text(xml)
  (source / "Sentences" / f"{name}.txt").write_text(f"{phrases[0]} above {phrases[1]} .\n")
  Image.fromarray(image).save(pictures / f"{name}.jpg", quality=95)
