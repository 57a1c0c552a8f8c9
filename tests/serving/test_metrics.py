import re
import threading

import pytest

from serving import metrics

_LABEL = r'[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*"'
LINE = re.compile(rf"[a-zA-Z_:][\w:]*(\{{{_LABEL}(,{_LABEL})*\}})? [-+0-9.eE]+")


def test_every_line_is_prometheus_text():
  figures = metrics.Metrics()
  figures.requests.add('na"me\n\\', "OK")
  figures.latency.observe(123.4, "m", "Predict", "GRPC")
  figures.add_gauge(metrics.Gauge("g", "A gauge.", (), lambda: {(): 2}))
  for line in figures.text().splitlines():
    assert line.startswith("# ") or LINE.fullmatch(line), line
  assert figures.text().endswith("\n")
  assert "\ng 2\n" in figures.text()


def test_histogram_counts_cumulatively():
  histogram = metrics.Histogram("h", "", (), (1, 2))
  for number in (0.5, 1, 1.5, 9):
    histogram.observe(number)
  assert histogram.lines() == [
    'h_bucket{le="1"} 2',
    'h_bucket{le="2"} 3',
    'h_bucket{le="+Inf"} 4',
    "h_sum 12",
    "h_count 4",
  ]
  assert histogram.count() == 4


def test_counts_from_many_threads_add_up():
  counter = metrics.Counter("c", "", ("who",))
  threads = [
    threading.Thread(target=lambda: [counter.add("x") for _ in range(1000)]) for _ in range(8)
  ]
  for thread in threads:
    thread.start()
  for thread in threads:
    thread.join()
  assert counter.value("x") == 8000
  assert counter.value("y") == 0
  assert counter.lines() == ['c{who="x"} 8000']


def test_wrong_number_of_label_values_is_a_mistake():
  counter = metrics.Counter("c", "", ("one", "two"))
  counter.add("x")
  with pytest.raises(ValueError, match="zip"):
    counter.lines()
