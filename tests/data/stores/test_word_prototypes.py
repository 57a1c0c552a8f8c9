import numpy as np
import pytest

from gcap_tf.data.stores import word_prototypes


def test_directions_are_unit_vectors_fixed_for_all_time():
  vector = word_prototypes.direction("class:dog", 4)
  assert np.linalg.norm(vector) == pytest.approx(1.0, rel=1e-6)
  # A changed hash or generator would silently invalidate every prepared folder.
  assert vector == pytest.approx([-0.733601, 0.468661, 0.127763, -0.475251], abs=1e-5)


def test_directions_of_different_words_are_near_orthogonal():
  words = [word_prototypes.direction(f"class:{i}", 2048) for i in range(40)]
  cosines = np.stack(words) @ np.stack(words).T
  assert np.abs(cosines - np.eye(40)).max() < 0.12


def test_classes_of_a_family_are_similar_and_others_are_not():
  size, similarity = 2048, 0.35
  man, woman, car = (
    word_prototypes.class_prototype(word, size, similarity) for word in ("man", "woman", "car")
  )
  assert man @ woman == pytest.approx(similarity, abs=0.08)
  assert abs(man @ car) < 0.1


def test_words_outside_the_table_have_a_family_too():
  families = {word_prototypes.family(f"word{i}") for i in range(500)}
  assert len(families) == word_prototypes.HASHED_FAMILIES
  assert word_prototypes.family("zither") == word_prototypes.family("zither")


def test_attributes_mix_to_a_norm_near_one():
  both = word_prototypes.attribute_direction(("red", "small"), 64)
  red, small = (word_prototypes.direction(f"attribute:{w}", 64) for w in ("red", "small"))
  assert both == pytest.approx((red + small) / np.sqrt(2), abs=1e-6)
  assert not word_prototypes.attribute_direction((), 64).any()


@pytest.mark.parametrize("word", ["dog", "man", "skyscraper", ""])
def test_the_telling_spot_lies_inside_the_box(word):
  x1, y1, x2, y2 = word_prototypes.focus_fractions(word)
  assert 0 <= x1 < x2 <= 1 and 0 <= y1 < y2 <= 1
  assert 0.15 < (x2 - x1) * (y2 - y1) < 0.35


def test_the_typical_spot_of_people_is_the_top_of_their_box():
  assert word_prototypes.focus_fractions("woman")[1] == 0
