from gcap_tf.data.stores import foreign_names

LABELS = ("person", "man", "players", "shirt", "soccer ball", "ball", "dog", "puppy")


def test_a_coco_detector_has_one_name_for_people_and_none_for_shirts():
  found = dict(zip(LABELS, foreign_names.coco_names(LABELS), strict=True))
  assert found["man"] == found["players"] == found["person"] == "person"
  assert found["shirt"] is None
  assert found["puppy"] == found["dog"] == "dog"


def test_its_names_are_read_as_labels_of_the_run():
  found = [LABELS[n] if n >= 0 else None for n in foreign_names.coco_labels(LABELS)]
  assert found == ["person", "person", "person", None, "ball", "ball", "dog", "dog"]


def test_a_name_that_the_run_does_not_read_is_not_seen():
  assert foreign_names.coco_labels(("man", "dog")) == [-1, 1]
