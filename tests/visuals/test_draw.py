import io

import numpy as np
import pytest
from PIL import Image

from gcap_tf.visuals import draw, ink

GRAY = (128, 128, 128)
BOX = (0.25, 0.25, 0.75, 0.75)


def gray_picture(width=600, height=400):
  return Image.new("RGB", (width, height), GRAY)


def one_word(picture, box=BOX, **options):
  return draw.grounded_caption(picture, ["dog"], [box], [True], **options)


def colors_in(image):
  return {color for _, color in image.getcolors(1 << 24)}


def test_the_box_is_drawn_where_it_is_in_its_colour():
  image = one_word(gray_picture())
  # The middle of the right edge: 0.75 of 599 pixels, inside the margin.
  x, y = draw.MARGIN + round(0.75 * 599), draw.MARGIN + 200
  assert image.getpixel((x, y)) == ink.PALETTE[0]
  assert image.getpixel((x + 1, y)) == ink.PAPER  # the white line outside
  assert image.getpixel((x + 5, y)) == GRAY
  assert image.getpixel((draw.MARGIN + 300, draw.MARGIN + 200)) == GRAY


def test_the_word_below_has_the_colour_of_its_box():
  words = ["a", "dog", "and", "a", "ball"]
  boxes = np.zeros((5, 4))
  boxes[1], boxes[4] = BOX, (0.8, 0.8, 0.9, 0.9)
  image = draw.grounded_caption(gray_picture(), words, boxes, [False, True, False, False, True])
  below = image.crop((0, draw.MARGIN + 400 + 2, image.width, image.height))
  assert {ink.PALETTE[0], ink.PALETTE[1]} <= colors_in(below)
  assert ink.PALETTE[2] not in colors_in(image)


def test_words_of_one_box_share_its_colour():
  image = draw.grounded_caption(gray_picture(), ["dog", "puppy"], [BOX, BOX], [True, True])
  assert ink.PALETTE[1] not in colors_in(image)


def test_ungrounded_words_draw_no_box():
  image = draw.grounded_caption(gray_picture(), ["a"], [BOX], [False])
  inside = image.crop((draw.MARGIN, draw.MARGIN, draw.MARGIN + 600, draw.MARGIN + 400))
  assert colors_in(inside) == {GRAY}


def test_pictures_come_as_images_bytes_or_not_at_all():
  buffer = io.BytesIO()
  gray_picture().save(buffer, "PNG")
  assert one_word(buffer.getvalue()).tobytes() == one_word(gray_picture()).tobytes()
  canvas = one_word(None)
  assert canvas.width == draw.CANVAS[0] + 2 * draw.MARGIN


def test_small_pictures_are_enlarged_and_large_ones_kept():
  assert one_word(gray_picture(120, 90)).width == 480 + 2 * draw.MARGIN
  assert one_word(gray_picture(700, 90)).width == 700 + 2 * draw.MARGIN
  assert one_word(gray_picture(), size=(300, 200)).width == 300 + 2 * draw.MARGIN


def test_a_canvas_shows_regions_and_their_labels():
  regions = np.asarray([(0.1, 0.1, 0.4, 0.4)])
  plain = one_word(None)
  marked = one_word(None, regions_01=regions, labels=["cat"])
  x, y = draw.MARGIN + round(0.1 * 639), draw.MARGIN + round(0.2 * 479)
  assert marked.getpixel((x, y)) == (188, 194, 204)
  assert plain.getpixel((x, y)) != (188, 194, 204)


def test_longer_captions_make_taller_pages():
  def height(count):
    words = ["something"] * count
    return draw.grounded_caption(
      gray_picture(), words, np.zeros((count, 4)), [False] * count
    ).height

  assert height(0) < height(1) < height(20) < height(60)
  assert height(1) == height(2)


def test_a_title_goes_above():
  plain, titled = one_word(gray_picture()), one_word(gray_picture(), title="Up-Down")
  assert titled.height > plain.height
  assert titled.getpixel((draw.MARGIN + 300, draw.MARGIN + 5)) != GRAY


def test_attention_may_be_a_weight_a_word_or_a_row_a_word():
  words = one_word(gray_picture(), attention=np.asarray([0.5]))
  rows = one_word(gray_picture(), attention=np.asarray([[0.1, 0.5, 0.4]]))
  assert words.tobytes() == rows.tobytes() != one_word(gray_picture()).tobytes()


@pytest.mark.parametrize(
  "box",
  [(0, 0, 1, 1), (0, 0, 0, 0), (1, 1, 1, 1), (-1, -1, 2, 2), (0.9, 0.9, 0.1, 0.1)],
)
def test_boxes_on_and_over_the_border_are_drawn_inside(box):
  image = one_word(gray_picture(), box)
  assert image.size == one_word(gray_picture()).size
  assert ink.PALETTE[0] in colors_in(image)


def test_boxes_that_are_not_numbers_are_left_out():
  image = one_word(gray_picture(), (np.nan, 0, 1, 1))
  assert ink.PALETTE[0] not in colors_in(image)


def test_sixty_grounded_words_and_none_are_drawn():
  boxes = np.random.default_rng(0).uniform(0, 1, (60, 4))
  many = draw.grounded_caption(gray_picture(), ["dog"] * 60, boxes, [True] * 60)
  none = draw.grounded_caption(gray_picture(), [], np.zeros((0, 4)), [])
  assert many.height > none.height
  assert none.size == (600 + 2 * draw.MARGIN, 400 + 2 * draw.MARGIN)


def test_numbers_of_coinciding_corners_do_not_cover_each_other():
  image = gray_picture()
  taken = []
  for number in range(3):
    draw._tag(image, (100, 100, 300, 200), str(number), ink.palette(number), taken)
  assert len(taken) == 3
  assert not any(draw._touch(a, b) for i, a in enumerate(taken) for b in taken[:i])


def test_attention_is_hottest_where_the_word_looks():
  boxes = np.asarray([(0, 0, 0.4, 1), (0.6, 0, 1, 1)])
  image = draw.attention_grid(
    gray_picture(), ["dog"], np.asarray([[0.9, 0.1]]), boxes, panel=(200, 100)
  )
  y = 14 + 26 + 50  # gap, head of the panel, half its height
  hot, cold, none = (sum(image.getpixel((14 + x, y))) for x in (40, 160, 100))
  assert hot > cold > none
  assert image.getpixel((14 + round(0.4 * 199), y)) == ink.PALETTE[0]  # the winner's right edge
  assert image.getpixel((14 + round(0.6 * 199), y)) != ink.PALETTE[0]


def test_a_grid_has_a_panel_a_word():
  boxes = np.asarray([BOX])
  sizes = [
    draw.attention_grid(None, ["w"] * t, np.ones((t, 1)), boxes, columns=4, panel=(80, 60)).size
    for t in (1, 4, 5)
  ]
  assert sizes == [(80 + 28, 86 + 28), (4 * 80 + 5 * 14, 86 + 28), (4 * 80 + 5 * 14, 2 * 86 + 42)]


def test_grids_without_words_or_regions_are_drawn():
  assert draw.attention_grid(gray_picture(), [], np.zeros((0, 3)), np.zeros((3, 4))).width > 0
  image = draw.attention_grid(gray_picture(), ["a", "b"], np.zeros((2, 0)), np.zeros((0, 4)))
  assert image.width > 240
  zeros = draw.attention_grid(gray_picture(), ["a"], np.zeros((1, 1)), [BOX], title="t")
  assert zeros.width > 240


def test_attention_that_does_not_fit_the_boxes_is_refused():
  with pytest.raises(ValueError, match="1 words, 1 boxes"):
    draw.attention_grid(gray_picture(), ["a"], np.zeros((1, 3)), [BOX])


def test_a_sheet_places_images_in_rows():
  red, blue = Image.new("RGB", (30, 20), "red"), Image.new("RGB", (10, 40), "blue")
  page = draw.sheet([red, blue, red], columns=2, gap=5)
  assert page.size == (5 + 30 + 5 + 10 + 5, 5 + 40 + 5 + 20 + 5)
  assert page.getpixel((5, 5)) == (255, 0, 0)
  assert page.getpixel((40, 44)) == (0, 0, 255)
  assert page.getpixel((5, 50)) == (255, 0, 0)
  assert page.getpixel((2, 2)) == ink.PAPER


def test_a_sheet_of_nothing_is_blank():
  assert colors_in(draw.sheet([], columns=3)) == {ink.PAPER}
