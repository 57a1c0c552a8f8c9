"""Counters and histograms in the text format of Prometheus, named as in TensorFlow Serving."""

import bisect
import threading
from collections.abc import Callable, Sequence

LATENCY_BOUNDS = tuple(10.0 * 1.8**i for i in range(24))  # microseconds: 10 us to 7.4 s
SIZE_BOUNDS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PATH = "/monitoring/prometheus/metrics"


class Counter:
  """A number that only grows, one for each combination of label values."""

  kind = "counter"

  def __init__(self, name: str, description: str, labels: Sequence[str] = ()):
    self.name, self.description, self.labels = name, description, tuple(labels)
    self._values: dict[tuple[str, ...], float] = {}
    self._lock = threading.Lock()

  def add(self, *values: str, amount: float = 1) -> None:
    with self._lock:
      self._values[values] = self._values.get(values, 0) + amount

  def value(self, *values: str) -> float:
    with self._lock:
      return self._values.get(values, 0)

  def lines(self) -> list[str]:
    with self._lock:
      items = sorted(self._values.items())
    return [f"{self.name}{_braces(self.labels, values)} {_number(n)}" for values, n in items]


class Gauge:
  """A number that is read on demand: `read()` returns {label values: number}."""

  kind = "gauge"

  def __init__(
    self,
    name: str,
    description: str,
    labels: Sequence[str],
    read: Callable[[], dict[tuple[str, ...], float]],
  ):
    self.name, self.description, self.labels, self.read = name, description, tuple(labels), read

  def lines(self) -> list[str]:
    items = sorted(self.read().items())
    return [f"{self.name}{_braces(self.labels, values)} {_number(n)}" for values, n in items]


class Histogram:
  """Counts of numbers up to each bound, with their sum and count."""

  kind = "histogram"

  def __init__(self, name: str, description: str, labels: Sequence[str], bounds: Sequence[float]):
    self.name, self.description, self.labels = name, description, tuple(labels)
    self.bounds = tuple(bounds)
    self._values: dict[tuple[str, ...], list[float]] = {}
    self._lock = threading.Lock()

  def observe(self, number: float, *values: str) -> None:
    with self._lock:
      row = self._values.setdefault(values, [0.0] * (len(self.bounds) + 2))
      row[bisect.bisect_left(self.bounds, number)] += 1
      row[-1] += number

  def count(self, *values: str) -> int:
    with self._lock:
      return int(sum(self._values.get(values, [0.0])[:-1]))

  def lines(self) -> list[str]:
    with self._lock:
      items = sorted((values, list(row)) for values, row in self._values.items())
    lines = []
    for values, row in items:
      below = 0.0
      for bound, n in zip((*map(_number, self.bounds), "+Inf"), row[:-1], strict=True):
        below += n
        braces = _braces((*self.labels, "le"), (*values, bound))
        lines.append(f"{self.name}_bucket{braces} {_number(below)}")
      braces = _braces(self.labels, values)
      lines.append(f"{self.name}_sum{braces} {_number(row[-1])}")
      lines.append(f"{self.name}_count{braces} {_number(below)}")
    return lines


class Metrics:
  """All metrics of one server."""

  def __init__(self):
    prefix, own = ":tensorflow:serving:", "gcap_serving_"
    self.requests = Counter(
      prefix + "request_count", "Requests by model and status.", ("model_name", "status")
    )
    self.latency = Histogram(
      prefix + "request_latency",
      "Microseconds from request to answer.",
      ("model_name", "API", "entrypoint"),
      LATENCY_BOUNDS,
    )
    self.batch_rows = Histogram(
      own + "batch_rows", "Pictures in one batch.", ("model_name", "signature"), SIZE_BOUNDS
    )
    self.expired = Counter(
      own + "expired_count", "Requests dropped because their deadline had passed.", ("model_name",)
    )
    self.refused = Counter(
      own + "refused_count", "Requests refused because the server was full.", ("reason",)
    )
    self.loads = Counter(
      own + "version_load_count", "Versions loaded, by outcome.", ("model_name", "outcome")
    )
    self._gauges: list[Gauge] = []

  def add_gauge(self, gauge: Gauge) -> None:
    self._gauges.append(gauge)

  def text(self) -> str:
    """Returns all metrics in the exposition format 0.0.4 of Prometheus."""
    lines = []
    families = [value for value in vars(self).values() if isinstance(value, Counter | Histogram)]
    for family in [*families, *self._gauges]:
      lines += [f"# HELP {family.name} {family.description}", f"# TYPE {family.name} {family.kind}"]
      lines += family.lines()
    return "\n".join(lines) + "\n"


def _braces(labels: Sequence[str], values: Sequence[str]) -> str:
  pairs = ",".join(
    f'{label}="{_escape(value)}"' for label, value in zip(labels, values, strict=True)
  )
  return f"{{{pairs}}}" if pairs else ""


def _escape(value: str) -> str:
  return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
  return str(int(value)) if float(value).is_integer() else repr(float(value))
