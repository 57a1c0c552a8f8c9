import numpy as np

from gcap_tf.vision import assignment, box_coding

_POINTS = box_coding.points(64, (8, 16, 32))
_LIMITS = assignment.size_limits(_POINTS, 64)


def _assign(boxes, mask=None):
  boxes = np.array([boxes], np.float32)
  mask = np.ones(boxes.shape[:2], bool) if mask is None else np.array([mask])
  rows, positive = assignment.assign(boxes, mask, _POINTS, _LIMITS)
  return rows.numpy()[0], positive.numpy()[0]


def test_a_small_box_is_learned_by_fine_cells_near_its_centre_alone():
  _, positive = _assign([[0.4, 0.4, 0.5, 0.5]])
  centres = _POINTS[positive]
  assert len(centres) == 9 and (centres[:, 2] == 8 / 64).all()  # 3 x 3 cells
  assert (np.abs(centres[:, :2] - 0.45) < 1.5 * 8 / 64).all()


def test_a_large_box_is_learned_by_the_coarsest_map():
  _, positive = _assign([[0, 0, 1, 1]])
  assert (_POINTS[positive][:, 2] == 32 / 64).all() and positive.sum() == 4


def test_the_smaller_box_gets_a_cell_that_two_want():
  rows, positive = _assign([[0.35, 0.35, 0.54, 0.54], [0.42, 0.42, 0.48, 0.48]])
  cell = np.argmin(np.abs(_POINTS[:, :2] - 0.45).sum(1) + _POINTS[:, 2])
  assert positive[cell] and rows[cell] == 1


def test_padding_is_never_learned():
  _, positive = _assign([[0.4, 0.4, 0.5, 0.5]], [False])
  assert not positive.any()
