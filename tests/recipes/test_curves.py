"""Tests of gcap_tf/recipes/curves.py."""

from PIL import Image

from gcap_tf.recipes import curves, experiments

ROWS = tuple(experiments.Row(name=name, label=name, training=None) for name in "abc")
TABLE = experiments.Table(
  paper="paper",
  split="val",
  columns=(experiments.Column("cider", "CIDEr"),),
  rows=ROWS,
  curves=(
    experiments.Curve(
      name="sweep", title="Figure", axis="λ", points={"a": 0.1, "b": 0.5}, keys=("cider", "spice")
    ),
  ),
  frequency_rows=("a", "c"),
)


def run(**figures):
  return {1: {"figures": figures}}


def test_a_curve_is_drawn_from_its_second_point_on(tmp_path):
  assert curves.draw_all(tmp_path, TABLE, {"a": run(cider=50.0)}) == []
  (path,) = curves.draw_all(tmp_path, TABLE, {"a": run(cider=50.0), "b": run(cider=60.0)})
  assert path.name == "sweep.png" and Image.open(path).size[0] > 100


def test_groups_of_classes_are_in_the_order_of_their_ranks(tmp_path):
  runs = {
    "a": run(f1_all_classes_51_100=3.0, f1_all_classes_1_50=9.0, f1_all=5.0),
    "b": run(f1_all_classes_1_50=1.0),
  }
  groups, lines = curves.frequency_lines(TABLE, runs)
  assert groups == ["1-50", "51-100"] and lines == {"a": [(0.0, 9.0), (1.0, 3.0)]}
  assert [path.name for path in curves.draw_all(tmp_path, TABLE, runs)] == ["class_frequency.png"]
