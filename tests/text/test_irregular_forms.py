"""The lists of irregular forms hold what they say."""

from gcap_tf.text import irregular_forms


def test_no_noun_is_both_irregular_and_unchanged():
  assert not irregular_forms.UNCHANGED_NOUNS & irregular_forms.NOUNS.keys()


def test_words_that_lose_only_s_end_in_es():
  assert all(word.endswith("es") for word in irregular_forms.LOSE_ONLY_S)


def test_lists_of_endings_hold_words_with_those_endings():
  assert all(word.endswith("is") for word in irregular_forms.PLURALS_IN_IS)
  assert all(word.endswith("us") for word in irregular_forms.PLURALS_IN_US)
  assert all(word.endswith("uses") for word in irregular_forms.PLURALS_IN_USES)
  assert all(word.endswith("men") for word in irregular_forms.NOT_PLURAL_IN_MEN)


def test_a_longer_ending_stands_before_one_that_it_ends_in():
  endings = [ending for ending, _ in irregular_forms.NOUN_ENDINGS]
  for index, ending in enumerate(endings):
    assert not any(later.endswith(ending) for later in endings[index + 1 :])


def test_verb_forms_map_to_one_infinitive():
  assert irregular_forms.VERBS["rode"] == irregular_forms.VERBS["ridden"] == "ride"
