from gcap_tf.data.readers import category_words

WORDS = category_words.CategoryWords(
  [
    "dog",
    "hot dog",
    "skis",
    "tennis racket",
    "wine glass",
    "bear",
    "teddy bear",
    "hand bell",
    "bell",
  ]
)


def test_a_word_names_the_category_of_its_lemma():
  assert WORDS.find(("two", "dogs", "and", "skis")) == [(1, "dog"), (3, "skis")]


def test_a_run_of_words_comes_before_its_last_word():
  assert WORDS.find(("a", "hot", "dog", "for", "a", "dog")) == [(2, "hot dog"), (5, "dog")]


def test_plural_runs_are_found():
  assert WORDS.find(("three", "teddy", "bears")) == [(2, "teddy bear")]


def test_the_last_word_names_a_category_that_has_it_alone():
  assert WORDS.find(("her", "racket", "and", "a", "glass")) == [
    (1, "tennis racket"),
    (4, "wine glass"),
  ]


def test_a_category_of_one_word_keeps_its_word():
  assert WORDS.find(("a", "bell")) == [(1, "bell")]


def test_the_singular_of_a_plural_category_names_it():
  assert WORDS.find(("one", "ski")) == [(1, "skis")]


def test_no_category_no_words():
  assert category_words.CategoryWords([]).find(("a", "dog")) == []


def test_an_ending_shared_by_two_categories_names_neither():
  words = category_words.CategoryWords(["wine glass", "water glass"])
  assert words.find(("a", "glass")) == []
  assert words.find(("a", "wine", "glass")) == [(2, "wine glass")]
