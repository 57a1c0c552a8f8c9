import itertools

import numpy as np
import pytest
from PIL import Image, ImageDraw

from gcap_tf.visuals import ink

# Machado et al., IEEE TVCG 2009: full deuteranopia and protanopia, in linear RGB.
DEUTERANOPIA = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                (-0.011820, 0.042940, 0.968881))  # fmt: skip
PROTANOPIA = ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
              (-0.003882, -0.048116, 1.051998))  # fmt: skip


def seen_by(matrix, color):
  linear = (np.asarray(color) / 255) ** 2.2
  return np.clip(np.asarray(matrix) @ linear, 0, 1) ** (1 / 2.2) * 255


@pytest.mark.parametrize("matrix", [np.eye(3), DEUTERANOPIA, PROTANOPIA])
def test_colours_stay_apart_for_colour_blind_readers(matrix):
  for a, b in itertools.combinations(ink.PALETTE, 2):
    assert np.linalg.norm(seen_by(matrix, a) - seen_by(matrix, b)) > 60, (a, b)


def test_colours_are_readable_as_text_on_paper():
  assert min(ink.contrast(color, ink.PAPER) for color in ink.PALETTE) > 3.5


def test_contrast_of_black_and_white_is_21():
  assert ink.contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
  assert ink.contrast((9, 9, 9), (9, 9, 9)) == 1


def test_ink_on_dark_is_white_and_on_light_is_black():
  assert ink.readable_on((20, 20, 90)) == (255, 255, 255)
  assert ink.readable_on((250, 230, 120)) == (20, 20, 24)


def test_the_heat_scale_gets_lighter_all_the_way():
  colors = ink.heat_colors(np.linspace(0, 1, 21))
  lightness = [ink.luminance(tuple(int(c) for c in color)) for color in colors]
  assert (np.diff(lightness) > 0).all()
  assert ink.heat_colors(np.zeros((2, 3))).shape == (2, 3, 3)


def test_an_outline_has_white_on_both_sides():
  image = Image.new("RGB", (40, 40), (0, 0, 0))
  ink.outline(ImageDraw.Draw(image), (10, 10, 30, 30), (200, 0, 0), width=3)
  column = [image.getpixel((x, 20)) for x in range(8, 16)]
  white, red, black = (255, 255, 255), (200, 0, 0), (0, 0, 0)
  assert column == [black, white, red, red, red, white, black, black]


def test_wrapped_rows_fit_and_keep_the_order():
  runs = [ink.Run(f"word{i}", number=i if i % 3 == 0 else None) for i in range(60)]
  placed = ink.wrap(runs, 200, 20)
  assert [p.run.text for p in placed] == [r.text for r in runs]
  for p in placed:
    assert p.x + ink.marker_width(p.run.number, 20) + ink.text_width(p.run.text, 20) <= 200
  assert placed[-1].row > 10
  assert all(b.row - a.row in (0, 1) for a, b in itertools.pairwise(placed))


def test_a_word_wider_than_the_paper_is_cut():
  placed = ink.wrap([ink.Run("x" * 100, number=1)], 120, 20)
  assert "".join(p.run.text for p in placed) == "x" * 100
  assert len(placed) > 5
  assert placed[0].run.number == 1 and placed[1].run.number is None


def test_full_stops_follow_without_a_space():
  dog, stop = ink.wrap([ink.Run("dog"), ink.Run(".")], 200, 20)
  assert stop.x == pytest.approx(dog.x + ink.text_width("dog", 20))


def test_no_words_need_no_rows():
  assert ink.wrap([], 100, 20) == []
