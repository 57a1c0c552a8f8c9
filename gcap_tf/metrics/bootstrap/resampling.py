"""Figures of a split from what each picture adds to them, and their bootstrap over pictures.

A figure is a function of sums over pictures, so that a resample of the pictures is a weight w_i
(how often picture i was drawn) for each of them:

    Ratio      100 Σ w v / Σ w c, added over columns       CIDEr, error shares, recalls, rsum
    ByClass    100 mean_c (Σ w hits_c / Σ w words_c)       attention accuracy
    MacroF1    100 F1 of two such means over the V annotated classes      F1_all, F1_loc
    Best       100 max_t (Σ w v_t / Σ w c)                 attention F1 at its best threshold

The difference of two systems is bootstrapped in pairs: both see the same pictures and the same
seeds. 1,000 resamples give the 95 % interval.
"""

import dataclasses
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gcap_tf import errors, files

RESAMPLES = 1_000
_SEED = 95
_DECIMALS = 5


@dataclasses.dataclass(frozen=True)
class Statistic:
  """What pictures add to a figure.

  Attributes:
    kind: name of its formula.
    arrays: by name; the first axis is pictures.
  """

  kind: str
  arrays: Mapping[str, np.ndarray]

  def __call__(self, weights: np.ndarray) -> np.ndarray:
    """The figure, in percent, under each row of weights [B, pictures]: [B]."""
    return 100.0 * _FORMULAS[self.kind](weights, self.arrays)

  @property
  def value(self) -> float:
    """The figure of the pictures themselves."""
    count = len(next(iter(self.arrays.values())))
    return float(self(np.ones([1, count]))[0])


def ratio(values: np.ndarray, counts: np.ndarray) -> Statistic:
  """Sum of the columns' means; `values` and `counts` are [pictures] or [pictures, columns]."""
  shape = [len(values), -1]
  return Statistic("ratio", {"v": np.reshape(values, shape), "c": np.reshape(counts, shape)})


def mean(values: Sequence[float]) -> Statistic:
  """The mean of a score per picture that is in percent already."""
  return ratio(np.asarray(values, np.float64) / 100.0, np.ones(len(values)))


def by_class(hits: np.ndarray, words: np.ndarray) -> Statistic:
  """Mean over classes of their hit rate; [pictures, classes] each."""
  return Statistic("by_class", {"hits": hits, "words": words})


def macro_f1(**arrays: np.ndarray) -> Statistic:
  """F1 of macro precision and recall.

  Args:
    arrays: `precision_hits`, `precision_words`, `recall_hits`, `recall_words` and `annotated`,
      each [pictures, classes].
  """
  return Statistic("macro_f1", arrays)


def best(values: np.ndarray, counts: np.ndarray) -> Statistic:
  """The largest mean over thresholds; values [pictures, thresholds], counts [pictures]."""
  return Statistic("best", {"v": values, "c": counts})


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
  return np.divide(a, b, out=np.zeros_like(a, dtype=np.float64), where=b > 0)


def _ratio(w, arrays):
  return _divide(w @ arrays["v"], w @ arrays["c"]).sum(-1)


def _by_class(w, arrays):
  words = w @ arrays["words"].astype(np.float64)
  rates = _divide(w @ arrays["hits"].astype(np.float64), words)
  return _divide(rates.sum(-1), (words > 0).sum(-1).astype(np.float64))


def _macro_f1(w, arrays):
  sums = {name: w @ array.astype(np.float64) for name, array in arrays.items()}
  classes = np.maximum((sums["annotated"] > 0).sum(-1), 1)
  sides = [
    _divide(sums[f"{side}_hits"], sums[f"{side}_words"]).sum(-1) / classes
    for side in ("precision", "recall")
  ]
  return _divide(2.0 * sides[0] * sides[1], sides[0] + sides[1])


def _best(w, arrays):
  return _divide(w @ arrays["v"], (w @ arrays["c"])[:, None]).max(-1)


_FORMULAS: dict[str, Callable[[np.ndarray, Mapping[str, np.ndarray]], np.ndarray]] = {
  "ratio": _ratio,
  "by_class": _by_class,
  "macro_f1": _macro_f1,
  "best": _best,
}


@dataclasses.dataclass(frozen=True)
class Difference:
  """A paired comparison.

  Attributes:
    mean: better minus worse, over all pictures and seeds.
    low, high: its 95 % interval.
    seeds, pictures: what was resampled.
  """

  mean: float
  low: float
  high: float
  seeds: int
  pictures: int


def compare(better: Sequence[Statistic], worse: Sequence[Statistic]) -> Difference:
  """Bootstraps better minus worse; statistic n of both is of the same seed and pictures."""
  if len(better) != len(worse) or not better:
    raise ValueError("a paired comparison needs the same seeds, one or more, of both")
  pictures = len(next(iter(better[0].arrays.values())))
  rng = np.random.default_rng(_SEED)
  weights = rng.multinomial(pictures, np.full(pictures, 1 / pictures), RESAMPLES).astype(float)
  pairs = list(zip(better, worse, strict=True))
  found = np.stack([first(weights) - second(weights) for first, second in pairs])  # [seeds, B]
  drawn = rng.integers(0, len(pairs), [len(pairs), RESAMPLES])
  resampled = np.take_along_axis(found, drawn, 0).mean(0)
  low, high = np.percentile(resampled, (2.5, 97.5))
  middle = np.mean([first.value - second.value for first, second in pairs])
  return Difference(float(middle), float(low), float(high), len(pairs), pictures)


def save(path: files.PathLike, statistics: Mapping[str, Statistic]) -> None:
  """Writes statistics to one file, rounded; whole numbers are stored small."""
  arrays = {
    f"{figure}/{found.kind}/{name}": rounded(array)
    for figure, found in statistics.items()
    for name, array in found.arrays.items()
  }
  with files.atomic_path(path) as partial, open(partial, "wb") as file:
    np.savez_compressed(file, **arrays)


def load(path: files.PathLike) -> dict[str, Statistic]:
  """Reads what `save` wrote; a `UserError` if the file is damaged."""
  found: dict[str, tuple[str, dict[str, np.ndarray]]] = {}
  try:
    with open(path, "rb") as file, np.load(io.BytesIO(file.read())) as stored:
      for key in stored.files:
        figure, kind, name = key.split("/")
        found.setdefault(figure, (kind, {}))[1][name] = stored[key]
  except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
    raise errors.UserError(
      f"statistics {path} are damaged ({error}); remove the folder to train the row again"
    ) from None
  return {figure: Statistic(kind, arrays) for figure, (kind, arrays) in found.items()}


def rounded(array: np.ndarray) -> np.ndarray:
  """Whole numbers as small integers, others to 5 decimals: a thousandth of a percent each.

  Whoever reads an array that was rounded gets the same intervals, to the last digit.
  """
  array = np.asarray(array)
  whole = array.dtype.kind in "biu" or not np.any(array % 1)
  if whole and array.size and array.min() >= 0 and array.max() < 65536:
    return array.astype(np.uint16)
  return np.round(array.astype(np.float64), _DECIMALS)
