import itertools
from xml.etree import ElementTree

from benchmarks.load import latency_plot

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*lines):
  return ElementTree.fromstring(latency_plot.draw(lines))


def test_points_lie_on_logarithmic_axes():
  line = latency_plot.Line("batched & fast", ((1, 10.0), (4, 100.0), (16, 1000.0)), "#123456")
  picture = drawn(line)
  places = [(float(c.get("cx")), float(c.get("cy"))) for c in picture.iter(f"{SVG}circle")]
  (x1, y1), (x2, y2), (x3, y3) = places
  assert x1 == latency_plot.LEFT
  assert y1 == latency_plot.HEIGHT - latency_plot.BOTTOM
  assert (abs((x1 + x3) / 2 - x2), abs((y1 + y3) / 2 - y2)) <= (0.2, 0.2)
  assert y3 == latency_plot.TOP
  assert "batched & fast" in [text.text for text in picture.iter(f"{SVG}text")]


def test_names_of_lines_do_not_overlap():
  lines = [latency_plot.Line(f"line{i}", ((1, 10.0), (2, 20.0 + i)), "#000000") for i in range(4)]
  heights = sorted(
    float(text.get("y"))
    for text in drawn(*lines).iter(f"{SVG}text")
    if text.text.startswith("line")
  )
  assert all(b - a >= 16 for a, b in itertools.pairwise(heights))


def test_one_point_is_drawn():
  assert len(list(drawn(latency_plot.Line("x", ((8, 5.0),), "#000000")).iter(f"{SVG}circle"))) == 1
