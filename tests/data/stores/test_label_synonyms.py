"""Tests of gcap_tf/data/stores/label_synonyms.py."""

from gcap_tf.data.stores import coco_categories, label_synonyms

# Words that any list of caption nouns has.
COMMON = {
  "animal", "bag", "ball", "bed", "bike", "bird", "boat", "book", "bottle", "bowl", "bus", "cake",
  "car", "cat", "chair", "container", "counter", "couch", "cow", "cup", "device", "dog", "food",
  "fruit", "glass", "glove", "horse", "hydrant", "keyboard", "knife", "laptop", "light", "luggage",
  "machine", "motorcycle", "object", "person", "phone", "plane", "plant", "pole", "pot", "racket",
  "screen", "seat", "sheep", "sign", "skateboard", "ski", "snowboard", "surfboard", "table", "tie",
  "tool", "toy", "train", "truck", "umbrella", "vegetable", "bat", "backpack", "bench",
}  # fmt: skip


def test_every_category_of_coco_has_a_common_word():
  def is_named(name):
    return name in COMMON or COMMON & set(label_synonyms.candidates(name))

  assert [name for name in coco_categories.NAMES.values() if not is_named(name)] == []


def test_names_are_plain_and_never_stand_for_themselves():
  for name, others in label_synonyms.table().items():
    assert name == name.lower().strip() and name
    assert name not in others and len(set(others)) == len(others)
    assert all(other == other.lower().strip() and other for other in others)


def test_what_is_the_same_goes_both_ways_and_before_what_is_wider():
  assert "sofa" in label_synonyms.candidates("couch")
  assert "couch" in label_synonyms.candidates("sofa")
  assert label_synonyms.candidates("zebra") == ("animal",)
  assert "zebra" not in label_synonyms.candidates("animal")
  assert label_synonyms.candidates("xyzzy") == ()
