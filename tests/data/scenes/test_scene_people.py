import numpy as np
import pytest

from gcap_tf.data.scenes import scene_people


def look(kind="man", **changes):
  options = {"top": "shirt", "top_color": "red", "legs_color": "blue", **changes}
  return scene_people.Look(kind, scene_people.SKINS[0], scene_people.HAIRS[0], **options)


@pytest.mark.parametrize("pose", scene_people.POSES)
@pytest.mark.parametrize("kind", ["man", "woman", "boy", "girl"])
def test_every_pose_is_painted_whole(kind, pose):
  pen = scene_people.paint(look(kind, hat="hat"), pose, 1.0, False)
  _, numbers = pen.finish()
  painted = numbers > 0
  assert painted.sum() > 800
  # Only soles touch the tile's edge: no foot, hand or hat is cut off.
  assert painted[-1].sum() < painted[-3].sum() or not painted[-1].any()
  assert not painted[0].any() and not painted[:, 0].any() and not painted[:, -1].any()
  assert {"head", "shirt", "pants", "hat"} == set(pen.parts)


def test_the_hat_is_above_the_shirt_and_the_shirt_above_the_pants():
  pen = scene_people.paint(look(hat="cap"), "stand", 1.0, False)
  _, numbers = pen.finish()
  middle = {
    name: np.flatnonzero((numbers == i).any(1)).mean() for i, name in enumerate(pen.parts, 2)
  }
  assert middle["cap"] < middle["head"] < middle["shirt"] < middle["pants"]


def test_dresses_go_without_pants():
  assert "pants" not in scene_people.paint(look("girl", top="dress"), "walk", 1.0, False).parts


def test_mirroring_moves_the_hand_to_the_other_side():
  right = scene_people.paint(look(), "hold", 1.0, False).anchors["hand"]
  left = scene_people.paint(look(), "hold", 1.0, True).anchors["hand"]
  assert right[0] > scene_people.WIDTH / 2 > left[0]
  assert right[0] + left[0] == scene_people.WIDTH


def test_clothes_have_their_colour():
  image, _ = scene_people.paint(look(top_color="green"), "stand", 2.0, False).finish()
  assert image.getpixel((66, 100))[:3] == (62, 148, 76)
