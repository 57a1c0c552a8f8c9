"""Models whose versions `swaps` exchanges.

scaled     a tiny one (`scaled_model`): its versions load at once, so swaps of the server can be
           counted by the thousand
captioner  a small captioner: its latencies are those that users would see
"""

import dataclasses
import pathlib
from collections.abc import Callable

from benchmarks.load import drawn_model, malformed, scaled_model
from export import captioner_module


@dataclasses.dataclass(frozen=True)
class SwapModel:
  """A kind of model.

  Attributes:
    name: that it is served by.
    request: seed -> a serialised request.
    save: writes version 1 to a base path, with weights that depend on a number; returns it.
    exact: outputs that are the same bits in every batch; sums of floats may round differently.
  """

  name: str
  request: Callable[[int], bytes]
  save: Callable[[pathlib.Path, float], pathlib.Path]
  exact: tuple[str, ...]


def _save_captioner(folder: pathlib.Path, number: float) -> pathlib.Path:
  model, vocabulary = drawn_model.make(
    hidden=16, features=malformed.FEATURES, words=20, spread=number / 10
  )
  module = captioner_module.CaptionerModule(model, vocabulary, [False] * vocabulary.size)
  return drawn_model.write(folder, module) / "1"


MODELS = {
  "scaled": SwapModel(
    scaled_model.NAME, scaled_model.request, scaled_model.save, ("scaled", "shifted", "name")
  ),
  "captioner": SwapModel(
    "captioner",
    lambda seed: malformed.good_request(seed).SerializeToString(),
    _save_captioner,
    ("caption", "words", "box_index", "box", "length"),
  ),
}
