"""A fixed direction in feature space for every word, computed from the word alone.

No table is stored or trained: any label of any dataset has a prototype, the same in
every process. Related classes (man and woman, car and truck) lie near each
other because they share their family's direction, so that detectors confuse them.
"""

import functools
import hashlib

import numpy as np

HASHED_FAMILIES = 40  # words outside the table fall into one of these

_FAMILIES = {
  "people": "man woman boy girl person people child kid guy lady baby player worker crowd",
  "animals": "dog cat horse bird puppy kitten cow sheep animal pony duck goat",
  "vehicles": "car truck bus bicycle bike motorcycle van train vehicle scooter taxi",
  "boats": "boat ship sailboat canoe kayak raft",
  "tops": "shirt jacket dress coat sweater vest t-shirt uniform blouse jersey",
  "bottoms": "pants jeans shorts skirt trousers leggings",
  "headwear": "hat cap helmet hood headband visor",
  "furniture": "table chair bench sofa couch desk seat bed stool",
  "body": "head face hand arm leg foot hair finger shoulder",
  "toys": "ball balloon kite toy frisbee doll football",
  "buildings": "house building home cottage church store shop tower roof door window wall",
  "plants": "tree pine flower bush plant grass field meadow trunk",
  "waters": "sea ocean water lake river pool beach sand",
  "grounds": "street road sidewalk floor snow ground path",
  "vessels": "cup mug glass bottle bowl plate",
}
_FAMILY_OF = {word: family for family, words in _FAMILIES.items() for word in words.split()}


@functools.lru_cache(maxsize=8192)
def direction(key: str, size: int) -> np.ndarray:
  """A unit vector [size] float32 that depends on `key` alone; keys are near orthogonal."""
  seed = int.from_bytes(hashlib.blake2b(key.encode("utf-8"), digest_size=8).digest(), "big")
  vector = np.random.Generator(np.random.PCG64(seed)).standard_normal(size, np.float32)
  vector /= np.linalg.norm(vector)
  vector.flags.writeable = False
  return vector


def family(word: str) -> str:
  """The family of similar classes that a word belongs to."""
  known = _FAMILY_OF.get(word)
  if known is None:
    known = f"family {hashlib.blake2b(word.encode('utf-8')).digest()[0] % HASHED_FAMILIES}"
  return known


@functools.lru_cache(maxsize=8192)
def class_prototype(word: str, size: int, similarity: float) -> np.ndarray:
  """Unit vector of a class; those of one family have a cosine near `similarity`."""
  own = direction(f"class:{word}", size)
  shared = direction(f"family:{family(word)}", size)
  vector = np.sqrt(1 - similarity) * own + np.sqrt(similarity) * shared
  vector /= np.linalg.norm(vector)
  vector.flags.writeable = False
  return vector.astype(np.float32, copy=False)


@functools.lru_cache(maxsize=8192)
def attribute_direction(words: tuple[str, ...], size: int) -> np.ndarray:
  """[size] the attributes' directions mixed, of norm near 1; zeros without attributes."""
  total = np.zeros(size, np.float32)
  for word in words:
    total += direction(f"attribute:{word}", size)
  total /= np.sqrt(max(1, len(words)))
  total.flags.writeable = False
  return total


@functools.lru_cache(maxsize=8192)
def focus_fractions(word: str) -> np.ndarray:
  """The most typical spot of a class: [4] x1, y1, x2, y2 as fractions of its box.

  The head for people; for other classes a place that depends on the word.
  """
  seed = hashlib.blake2b(f"focus:{word}".encode(), digest_size=8).digest()
  u, v, w = (byte / 255 for byte in seed[:3])
  side = 0.42 + 0.16 * w
  x, y = u * (1 - side), v * (1 - side)
  if family(word) == "people":
    x, y = (1 - side) / 2, 0.0
  fractions = np.asarray([x, y, x + side, y + side], np.float32)
  fractions.flags.writeable = False
  return fractions
