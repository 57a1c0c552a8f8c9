import dataclasses
import re

import numpy as np
import pytest
from PIL import Image

from serving.wire import answers
from trainers.gallery import pages

SEEN = answers.SeenRegions(
  np.array([[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]], np.float32),
  ("dog", "<ball>"),
  np.array([0.9, 0.8], np.float32),
  (60, 40),
)
ANSWER = answers.GroundedCaption(
  caption="a dog <b> hat",
  words=("a", "dog", "<b>", "hat"),
  box_index=np.array([0, 0, 1, 1]),
  grounded=np.array([False, True, True, True]),
  boxes=SEEN.boxes[[0, 0, 1, 1]],
  attention=np.full((4, 2), 0.5, np.float32),
  log_prob=-1.0,
  word_scores=np.array([0, 0.9, 0.8, 0.1], np.float32),
  seen=SEEN,
)
EMPTY = dataclasses.replace(
  ANSWER,
  caption="",
  words=(),
  grounded=np.zeros(0, bool),
  boxes=np.zeros((0, 4), np.float32),
  word_scores=np.zeros(0, np.float32),
  answered=False,
)


@pytest.fixture
def page(tmp_path):
  found = {}
  for name in ("empty", "dog", "damaged"):
    Image.new("RGB", (60, 40), "teal").save(tmp_path / f"{name}.png")
    found[f"A {name} & more"] = tmp_path / f"{name}.png"
  answered = [EMPTY, ANSWER, dataclasses.replace(EMPTY, error="not a picture")]
  pages.write(tmp_path / "out", found, answered, "Some text", [("gcap caption", "captions <it>")])
  return (tmp_path / "out" / "index.html").read_text()


def test_words_have_the_colour_of_their_box_and_unsure_words_have_none(page):
  boxes = re.findall(r'<div class="box ([^"]*)" style="([^"]*)"><span>([^<]*)', page)
  assert [(kind, names) for kind, _, names in boxes] == [
    ("b1 c0 inside", "dog"),
    ("b2 c1", "&lt;b&gt;"),
  ]
  assert boxes[1][1] == "left:50.00%;top:50.00%;width:50.00%;height:50.00%"
  assert '<b class="thing c0 w1" tabindex="0">dog<small>90 %</small></b>' in page
  assert '<b class="unsure w3" tabindex="0">hat<small>10 %</small></b>' in page


def test_photograph_with_most_boxes_goes_first_and_damaged_ones_are_left_out(page, tmp_path):
  assert re.findall(r'<figure class="(\w+)"', page) == ["hero", "card"]
  alts = re.findall(r'<img src="(photograph_\d+.jpg)" alt="([^"]*)"', page)
  assert alts == [
    ("photograph_01.jpg", "A dog &amp; more"),
    ("photograph_02.jpg", "A empty &amp; more"),
  ]
  assert Image.open(tmp_path / "out" / "photograph_01.jpg").size == (60, 40)


def test_picture_without_an_answer_says_so(page):
  assert "No caption: the model knows nothing in this picture." in page


def test_page_has_no_script_and_no_outside_address(page):
  assert "<script" not in page
  assert not re.findall(r"https?://", page)
  assert "captions &lt;it&gt;" in page
