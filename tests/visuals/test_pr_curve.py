import numpy as np
import pytest
from PIL import Image

from gcap_tf import errors
from gcap_tf.visuals import pr_curve


def colour_at(picture, recall, precision):
  x, y = pr_curve.place(recall, precision)
  return picture.getpixel((round(x), round(y)))


def test_points_lie_where_their_numbers_say():
  picture = pr_curve.draw({"scan": pr_curve.Curve([0.25, 0.75], [0.85, 0.35])}, "title")
  blue = (31, 119, 180)
  assert colour_at(picture, 0.25, 0.85) == blue
  assert colour_at(picture, 0.75, 0.35) == blue
  assert colour_at(picture, 0.5, 0.6) == blue  # half-way along the line
  assert colour_at(picture, 0.35, 0.35) == (255, 255, 255)


def test_each_model_has_its_colour_and_the_best_point_a_ring():
  picture = pr_curve.draw(
    {
      "scan": pr_curve.Curve([0.25], [0.55]),
      "ours": pr_curve.Curve([0.45, 0.55], [0.15, 0.05], best=0),
    }
  )
  orange = (255, 127, 14)
  assert colour_at(picture, 0.45, 0.15) == orange
  x, y = pr_curve.place(0.45, 0.15)
  ring = [picture.getpixel((round(x), round(y) - d)) for d in range(5, 11)]
  assert orange in ring
  plain_x, plain_y = pr_curve.place(0.25, 0.55)
  around = [picture.getpixel((round(plain_x), round(plain_y) - d)) for d in range(5, 11)]
  assert (31, 119, 180) not in around


def test_a_curve_of_one_model_draws_more_than_empty_axes():
  empty = np.asarray(pr_curve.draw({}))
  drawn = np.asarray(pr_curve.draw({"scan": pr_curve.Curve([0.1, 0.9], [0.9, 0.1])}))
  assert (empty != drawn).any(-1).sum() > 500


@pytest.mark.parametrize("curve", [([], []), ([1.2], [0.5]), ([float("nan")], [0.5])])
def test_numbers_out_of_range_are_refused(curve):
  with pytest.raises(errors.UserError, match="curve scan: precision and recall must be"):
    pr_curve.draw({"scan": pr_curve.Curve(*curve)})


def test_risk_over_coverage_is_drawn_to_a_file(tmp_path):
  coverage = np.arange(1, 501) / 500
  pr_curve.save_risk({"words": (coverage, coverage / 2)}, tmp_path / "risk.png")
  picture = Image.open(tmp_path / "risk.png")
  assert colour_at(picture, coverage[-1], 0.5) == (31, 119, 180)
