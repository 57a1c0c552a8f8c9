"""Carries out docs/tour.ipynb from top to bottom."""

# bazel: data = ["//docs:files"]

import ast
import json
import pathlib
import time

import pytest
from PIL import Image

# The notebook imports these; named here, so that Bazel provides them.
import gcap_tf.api  # noqa: F401
from export import saved_model  # noqa: F401
from gcap_tf.data.prepared import pipeline, prepare  # noqa: F401
from gcap_tf.data.scenes import drawn_scenes  # noqa: F401
from gcap_tf.runs import run_folders  # noqa: F401
from gcap_tf.training import schedules  # noqa: F401
from gcap_tf.training.methods import captioning  # noqa: F401
from gcap_tf.visuals import draw  # noqa: F401
from serving import client, embedded, free_photographs, samples, versions  # noqa: F401
from serving.wire import answer_pictures  # noqa: F401

NOTEBOOK = pathlib.Path(__file__).parent.parent / "docs" / "tour.ipynb"
SECONDS = 120  # of processor time on two cores


def cells(kind):
  book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
  return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == kind]


def carry_out(source, names):
  """Runs a cell; returns the value of its last line if that is an expression, as Jupyter does."""
  tree = ast.parse(source)
  last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
  exec(compile(tree, "cell", "exec"), names)
  return last and eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_notebook_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys):
  monkeypatch.chdir(tmp_path)
  names, shown, started = {}, [], time.process_time()
  for source in cells("code"):
    shown.append(carry_out(source, names))
  used = time.process_time() - started
  assert len([value for value in shown if isinstance(value, Image.Image)]) == 3
  assert (tmp_path / "tour" / "model" / "1" / "saved_model.pb").exists()
  said = capsys.readouterr().out
  assert "tokens" in said and "gRPC 127.0.0.1:" in said
  assert used < 2 * SECONDS, f"{used:.0f} seconds of processor time"


def test_notebook_is_kept_without_output():
  book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
  assert not [cell for cell in book["cells"] if cell.get("outputs")]
  assert len(NOTEBOOK.read_bytes()) < 50_000


@pytest.mark.parametrize("source", cells("code"))
def test_lines_fit_the_house_style(source):
  assert max(map(len, source.split("\n"))) <= 100
