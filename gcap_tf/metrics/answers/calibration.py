"""Calibrated probabilities: a logistic fit, its calibration error, risk against coverage.

    fit       w, b minimise  -Σ [y ln p + (1 - y) ln(1 - p)] + λ |w|²,   p = σ(w · x + b)
    ECE       Σ_m (n_m / n) |mean of p in bin m - share right in bin m|      (Guo et al., 2017)
    risk at coverage c   share wrong among the c n entries of largest p      (Geifman, El-Yaniv)
    AURC      mean risk over all coverages

Pure functions on NumPy arrays; y may be a share from 0 to 1.
"""

import dataclasses

import numpy as np

_STEPS = 50
_LIMIT = 30.0  # |w · x + b| at most, so that no probability is 0 or 1


@dataclasses.dataclass(frozen=True)
class Logistic:
  """p = σ(weights · x + bias)."""

  weights: np.ndarray
  bias: float

  def __call__(self, x: np.ndarray) -> np.ndarray:
    """Probabilities of rows [n, E]."""
    return 1.0 / (1.0 + np.exp(-np.clip(x @ self.weights + self.bias, -_LIMIT, _LIMIT)))


def fit(x: np.ndarray, y: np.ndarray, ridge: float = 1e-3) -> Logistic:
  """Fits by Newton's method; columns are standardised first, and constant ones get weight 0.

  Args:
    x: [n, E].
    y: [n], right or wrong, or a share.
    ridge: λ, for each row.
  """
  x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
  mean, deviation = x.mean(0), x.std(0)
  varies = deviation > 1e-9
  scale = np.where(varies, deviation, 1.0)
  rows = np.concatenate([(x - mean) / scale * varies, np.ones([len(x), 1])], 1)
  penalty = ridge * len(x) * np.diag([1.0] * x.shape[1] + [1e-6])
  w = np.zeros(rows.shape[1])
  for _ in range(_STEPS):
    p = 1.0 / (1.0 + np.exp(-np.clip(rows @ w, -_LIMIT, _LIMIT)))
    slope = rows.T @ (p - y) + penalty @ w
    curve = (rows * (p * (1 - p) + 1e-9)[:, None]).T @ rows + penalty
    step = np.linalg.solve(curve, slope)
    w -= step
    if np.abs(step).max() < 1e-9:
      break
  weights = w[:-1] / scale * varies
  return Logistic(weights, float(w[-1] - weights @ mean))


def cross_fitted(x: np.ndarray, y: np.ndarray, groups: np.ndarray, folds: int = 5) -> np.ndarray:
  """Probabilities [n] of rows from fits that saw no row of their group.

  Args:
    x: [n, E].
    y: [n].
    groups: [n] int; rows of a group (a picture) share a fold.
    folds: number of fits.
  """
  found = np.full(len(y), float(np.mean(y)))
  for fold in range(folds):
    held = groups % folds == fold
    if held.any() and not held.all():
      found[held] = fit(x[~held], y[~held])(x[held])
  return found


def expected_error(p: np.ndarray, y: np.ndarray, bins: int = 15) -> float:
  """ECE with bins of equal counts, which no bin of few entries can dominate."""
  if not len(p):
    return 0.0
  order = np.argsort(p, kind="stable")
  parts = np.array_split(order, min(bins, len(p)))
  return float(sum(len(part) * abs(p[part].mean() - y[part].mean()) for part in parts) / len(p))


def risk_coverage(p: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Coverage and risk [n], the surest entry first."""
  order = np.argsort(-p, kind="stable")
  count = np.arange(1, len(p) + 1)
  return count / max(len(p), 1), np.cumsum(1.0 - y[order]) / count


def area_under_risk(p: np.ndarray, y: np.ndarray) -> float:
  """AURC."""
  return float(risk_coverage(p, y)[1].mean()) if len(p) else 0.0
