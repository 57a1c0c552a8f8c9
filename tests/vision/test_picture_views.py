import numpy as np

from gcap_tf.vision import picture_views

_BOXES = np.array([[0.1, 0.2, 0.4, 0.9], [0.0, 0.0, 1.0, 1.0]], np.float32)


def test_the_first_two_views_are_the_photograph_and_its_mirror_image():
  assert picture_views.view("7", 0) == picture_views.View()
  boxes, visible = picture_views.boxes_in(_BOXES, picture_views.view("7", 1))
  np.testing.assert_allclose(boxes, [[0.6, 0.2, 0.9, 0.9], [0, 0, 1, 1]], rtol=1e-6)
  assert visible.all()


def test_other_views_are_cut_out_or_shrunk_and_some_are_mirrored():
  views = [picture_views.view("7", number) for number in range(2, 10)]
  for number, seen in enumerate(views, 2):
    x1, y1, x2, y2 = seen.window
    assert 0 <= x1 < x2 <= 1 and 0 <= y1 < y2 <= 1 and 0 < seen.share <= 1
    assert (seen.share < 1) == bool(number % 2) and (x2 - x1 < 1) == (not number % 2)
  assert {seen.mirrored for seen in views} == {True, False}


def test_a_view_depends_on_the_picture_and_its_number_alone():
  assert picture_views.view("7", 2) == picture_views.view("7", 2)
  assert len({picture_views.view(name, number) for name in "78" for number in (2, 6)}) == 4


def test_boxes_of_a_window_are_cut_and_those_outside_are_not_visible():
  seen = picture_views.View((0.5, 0.0, 1.0, 1.0))
  boxes, visible = picture_views.boxes_in(
    np.array([[0.6, 0.2, 0.8, 0.4], [0.4, 0.0, 0.7, 1.0], [0.0, 0.0, 0.6, 1.0]], np.float32), seen
  )
  np.testing.assert_allclose(boxes[:2], [[0.2, 0.2, 0.6, 0.4], [0, 0, 0.4, 1]], atol=1e-6)
  assert visible.tolist() == [True, True, False]  # 100 %, 67 % and 17 % are inside.
