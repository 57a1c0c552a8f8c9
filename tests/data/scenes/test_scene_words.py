from gcap_tf.data.scenes import scene_layout, scene_words


def test_every_painted_class_has_words():
  painted = {*scene_layout.THING_COLORS, *scene_layout.ANIMAL_COLORS, *scene_layout.PEOPLE}
  assert painted <= set(scene_words.NOUNS)


def test_words_of_prepositions_places_and_adjectives_have_tags():
  places = [row for rows in scene_words.PLACES.values() for row in rows]
  for preposition, before, _, _ in (*places, *scene_words.WATER, *scene_words.SKY):
    for word in (*preposition.split(), *before.split()):
      assert word in scene_words.TAGS
  for colors in (*scene_layout.THING_COLORS.values(), *scene_layout.ANIMAL_COLORS.values()):
    assert all(scene_words.TAGS[color] == "ADJ" for color in colors)


def test_class_names_are_lemmas_in_order_without_repeats():
  names = scene_words.class_names()
  assert names == sorted(set(names))
  assert {"puppy", "kid", "mountain", "snow", "t-shirt"} <= set(names)
  assert not {"men", "buildings", "mountains", "dogs"} & set(names)


def test_no_word_is_both_noun_and_function_word():
  assert not set(scene_words.class_names()) & set(scene_words.TAGS)
