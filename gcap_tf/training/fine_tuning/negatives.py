"""Wrong captions for contrastive learning: captions of other pictures.

Each of K streams walks through all pictures in a random order, a new order in every pass, and
lends a picture's captions to the picture at that place of the batch. What is drawn is a pure
function of (seed, step), so a resumed run continues exactly.
"""

import collections
import threading

import numpy as np

from gcap_tf import errors
from gcap_tf.training.fine_tuning import caption_table

_KEPT = 32


class Negatives:
  """Draws wrong captions.

  Args:
    table: the captions.
    slots: T of the rows, one more than the words that captions are cut to.
    images: pictures of a batch, I.
    captions: n, taken from each lending picture: consecutive ones from a random start.
    streams: K.
    seed: seed of the orders.
  """

  def __init__(
    self,
    table: caption_table.CaptionTable,
    slots: int,
    images: int,
    captions: int,
    streams: int = 5,
    seed: int = 0,
  ):
    if len(table.image_ids) < 2:
      raise errors.UserError("contrastive learning needs two pictures or more to contrast")
    self._table, self._rows = table, np.pad(table.rows(slots - 1), [(0, 0), (0, 1)])
    self._images, self._captions, self._streams = images, captions, streams
    self._seed = seed
    self._passes: collections.OrderedDict[tuple[int, int], np.ndarray] = collections.OrderedDict()
    self._lock = threading.Lock()

  def at(self, step: int, images: np.ndarray, first: int = 0) -> np.ndarray:
    """Captions of other pictures: int32 [I, K * n, T].

    Args:
      step: 0-based.
      images: [I] ids of the batch's pictures, or of some of them in a row, as bytes.
      first: place of the first of them in the batch.
    """
    own = np.array([self._table.positions[image.decode()] for image in images])
    places = int(step) * self._images + first + np.arange(len(own))
    return np.concatenate([self._of_stream(k, places, own) for k in range(self._streams)], 1)

  def _of_stream(self, stream: int, place: np.ndarray, own: np.ndarray) -> np.ndarray:
    count = len(self._table.image_ids)
    lenders = np.empty(len(own), np.int64)
    starts = np.empty(len(own))
    for n, (number, inside) in enumerate(zip(place // count, place % count, strict=True)):
      order, draws = self._pass(stream, int(number))
      # A picture does not lend to itself: the next of the order does.
      inside = inside if order[inside] != own[n] else (inside + 1) % count
      lenders[n], starts[n] = order[inside], draws[inside]
    available = self._table.captions[lenders]
    room = np.maximum(available - self._captions + 1, 1)
    first = (starts * room).astype(np.int64)
    chosen = (first[:, None] + np.arange(self._captions)) % available[:, None]
    return self._rows[self._table.first_caption[lenders][:, None] + chosen]

  def _pass(self, stream: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Order of the pictures in a pass of a stream, and a draw from 0 to 1 for each."""
    with self._lock:
      if (stream, number) not in self._passes:
        rng = np.random.default_rng([self._seed, 1 + stream, number])
        count = len(self._table.image_ids)
        self._passes[stream, number] = rng.permutation(count), rng.random(count)
        if len(self._passes) > max(_KEPT, 4 * self._streams):
          self._passes.popitem(last=False)
      return self._passes[stream, number]
