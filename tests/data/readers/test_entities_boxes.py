import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from gcap_tf import errors
from gcap_tf.data.readers import entities_boxes


def thing(names, box=None, flags=""):
  inside = "".join(f"<name>{name}</name>" for name in names)
  if box is not None:
    edges = zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True)
    inside += "<bndbox>" + "".join(f"<{k}>{v}</{k}>" for k, v in edges) + "</bndbox>"
  return f"<object>{inside}{flags}</object>"


def xml(*things, width=100, height=80):
  size = f"<size><width>{width}</width><height>{height}</height><depth>3</depth></size>"
  return f"<annotation>{size}{''.join(things)}</annotation>".encode()


def parse(*things, **size):
  return entities_boxes.parse(xml(*things, **size), "Annotations/7.xml")


def test_coordinates_count_from_zero():
  boxes = parse(thing(["4"], (1, 11, 21, 31)))
  np.testing.assert_array_equal(boxes.boxes_px, [[0, 10, 20, 30]])
  assert (boxes.width, boxes.height) == (100, 80)


def test_a_chain_owns_several_boxes_and_a_box_several_chains():
  boxes = parse(thing(["4"], (1, 1, 9, 9)), thing(["4", "5"], (11, 11, 19, 19)))
  assert boxes.chains == (("4",), ("4", "5"))
  assert boxes.of("4").tolist() == [[0, 0, 8, 8], [10, 10, 18, 18]]
  assert boxes.of("5").tolist() == [[10, 10, 18, 18]]
  assert boxes.of("6").shape == (0, 4)


def test_scenes_and_things_without_box_are_remembered_as_such():
  scene = thing(["8"], flags="<scene>1</scene><nobndbox>0</nobndbox>")
  boxes = parse(scene, thing(["9"], flags="<scene>0</scene><nobndbox>1</nobndbox>"))
  assert boxes.unboxed == {"8", "9"} and boxes.boxes_px.shape == (0, 4)


def test_a_box_over_the_edge_is_cut_and_counted():
  boxes = parse(thing(["4"], (91, 1, 120, 20)), thing(["5"], (1, 1, 9, 9)))
  assert boxes.boxes_px[0].tolist() == [90, 0, 100, 19]
  assert boxes.clipped == 1


@pytest.mark.parametrize(
  ("box", "fault"),
  [
    ((150, 1, 160, 20), "outside the picture"),
    ((5, 5, 5, 20), "no area"),
    ((9, 1, 3, 5), "no area"),
  ],
)
def test_an_impossible_box_is_named_as_it_stands_on_disk(box, fault):
  with pytest.raises(errors.UserError, match=rf"7\.xml: box \[{box[0]}, .*{fault}"):
    parse(thing(["4"], box))


def test_broken_xml_is_named():
  with pytest.raises(errors.UserError, match=r"7\.xml: broken XML"):
    entities_boxes.parse(xml(thing(["4"], (1, 1, 9, 9)))[:-20], "Annotations/7.xml")


def test_a_missing_edge_names_object_and_edge():
  broken = xml(thing(["4"], (1, 1, 9, 9))).replace(b"<ymax>9</ymax>", b"")
  with pytest.raises(errors.UserError, match="<ymax> of object 1 is missing"):
    entities_boxes.parse(broken, "Annotations/7.xml")


def test_a_picture_without_size_is_refused():
  with pytest.raises(errors.UserError, match="0 x 80"):
    parse(width=0)


def test_an_object_without_name_is_refused():
  with pytest.raises(errors.UserError, match="object 1 has no <name>"):
    parse(thing([], (1, 1, 9, 9)))


@hypothesis.given(st.integers(0, 10_000), st.binary(min_size=1, max_size=8))
def test_a_damaged_file_parses_or_is_refused_with_its_name(place, noise):
  data = bytearray(xml(thing(["4"], (1, 1, 90, 70)), thing(["5", "6"], (11, 11, 19, 19))))
  place %= len(data)
  data[place : place + len(noise)] = noise
  try:
    boxes = entities_boxes.parse(bytes(data), "Annotations/7.xml")
  except errors.UserError as error:
    assert str(error).startswith("Annotations/7.xml: ")
  else:
    assert (boxes.boxes_px[:, 2:] > boxes.boxes_px[:, :2]).all()


@pytest.mark.parametrize("text", ["nan", "inf", "1e300", "", "x"])
def test_an_edge_that_is_no_number_is_refused(text):
  with pytest.raises(errors.UserError, match=r"7\.xml: "):
    parse(thing(["4"], (1, text, 90, 70)))
