import tensorflow as tf

from gcap_tf.decoding import config, constraints, decoder, user_rules
from gcap_tf.text import vocabulary, word_classes
from tests.decoding import tiny

WORDS = ("", "a", "dog", "dogs", "runs", "in", "white", "holding", "UNK")
VOCABULARY = vocabulary.Vocabulary("captioner", WORDS)
CLASSES = word_classes.WordClasses(
  ("dog", "dogs"), ("runs", "holding"), ("dog", "dogs"), ("white",)
)
PLAIN = config.DecodeConfig(max_length=6)


def caption(options, rows):
  script = tiny.Script([tiny.table(rows, len(WORDS))])
  script.config = type("Config", (), {"vocabulary_size": len(WORDS)})
  found = decoder.decode(script, tiny.memory(), options)
  return " ".join(WORDS[word] for word in found["tokens"].numpy()[0] if word), found


def ids(words):
  return [WORDS.index(word) for word in words.split()]


def test_users_get_every_rule():
  ruled = user_rules.UserRules().apply(PLAIN, VOCABULARY, CLASSES)
  assert ruled.unknown == "second_best" and ruled.no_repeat_ngram == 3
  assert ruled.word_groups == ((2, 3), (4,), (7,)) and not ruled.told_apart
  assert ruled.determiners == (1,) and set(ruled.bad_endings) == {5, 7}


def test_every_rule_can_be_switched_off():
  rules = user_rules.UserRules(0, "allow", cut_off=True)
  ruled = rules.apply(config.DecodeConfig(unknown="suppress"), VOCABULARY, CLASSES)
  assert constraints.constraint(
    config.DecodeConfig(**{**vars(ruled), "unknown": "allow"}),
    tf.constant(1),
    tf.constant([[1]]),
    9,
  ).is_empty
  assert ruled.unknown == "suppress" and ruled.end_below == 0.0


def test_a_vocabulary_without_unk_loses_no_word():
  words = vocabulary.Vocabulary("captioner", ("", "a", "dog"))
  assert user_rules.UserRules().apply(PLAIN, words, CLASSES).unknown == "allow"


def test_a_caption_ends_in_place_of_a_repeat_and_drops_its_open_phrase():
  a, dog, runs, within, white = ids("a dog runs in white")
  rows = {0: {a: 1}, a: {dog: 0.99, white: 0.01}, dog: {runs: 1}, runs: {within: 1}, within: {a: 1}}
  ruled = user_rules.UserRules().apply(PLAIN, VOCABULARY, CLASSES)
  text, found = caption(ruled, rows)
  assert text == "a dog runs"
  assert found["box_index"].numpy()[0].tolist()[3:] == [-1, -1, -1]
  assert found["log_prob"].numpy()[0] > -20


def test_a_likely_other_word_is_taken_in_place_of_a_repeat():
  a, dog, runs, within, white = ids("a dog runs in white")
  rows = {
    0: {a: 1}, a: {dog: 0.6, white: 0.4}, dog: {runs: 1}, runs: {within: 1}, within: {a: 1},
    white: {0: 0.6, runs: 0.4},
  }  # fmt: skip
  assert caption(user_rules.UserRules().apply(PLAIN, VOCABULARY, CLASSES), rows)[0] == "a dog runs"
  free = user_rules.UserRules(cut_off=True).apply(PLAIN, VOCABULARY, CLASSES)
  assert caption(free, rows)[0] == "a dog runs in a white"


def test_unk_never_comes_out():
  unknown = len(WORDS) - 1
  for method in ("greedy", "beam"):
    options = config.DecodeConfig(method=method, max_length=4)
    ruled = user_rules.UserRules().apply(options, VOCABULARY, CLASSES)
    text, _ = caption(ruled, {0: {unknown: 0.9, 2: 0.1}, 2: {unknown: 0.9, 0: 0.1}})
    assert text == "dog"


def test_white_may_end_a_caption_after_in_but_not_after_a():
  ruled = user_rules.UserRules().apply(PLAIN, VOCABULARY, CLASSES)
  kept = constraints.drop_open_phrase(ruled, tf.constant([ids("a dog in white")]), len(WORDS))
  cut = constraints.drop_open_phrase(ruled, tf.constant([ids("a dog in a white")]), len(WORDS))
  assert kept.numpy()[0].tolist() == ids("a dog in white")
  assert cut.numpy()[0].tolist() == [*ids("a dog"), 0, 0, 0]
