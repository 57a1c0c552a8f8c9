import numpy as np
import tensorflow as tf

from gcap_tf.decoding import config, constraints, greedy
from gcap_tf.text import vocabulary
from tests.decoding import tiny


def penalty(t, history, size=6, **options):
  found = constraints.constraint(
    config.DecodeConfig(max_length=8, **options), tf.constant(t), tf.constant(history), size
  )
  scores = tf.zeros([len(history), 1, size])
  return None if found.is_empty else found.lower(scores).numpy()[:, 0]


def row(*words):
  return [list(words) + [0] * (8 - len(words))]


def test_no_rule_adds_nothing():
  assert penalty(3, row(1, 2, 3)) is None


def test_unknown_is_suppressed_or_gives_way():
  assert penalty(0, row(), unknown="suppress")[0].tolist() == [0, 0, 0, 0, 0, -1000]
  assert penalty(0, row(), unknown="second_best")[0, 5] <= -1e9


def test_a_caption_does_not_end_before_its_least_length():
  assert penalty(1, row(1), min_length=2)[0, 0] <= -1e9
  assert penalty(2, row(1, 2), min_length=2)[0, 0] == 0


def test_a_caption_does_not_end_with_a_bad_ending():
  found = penalty(2, row(1, 3), bad_endings=(3, 4))
  assert found[0, 0] <= -1e9 and np.count_nonzero(found) == 1
  assert not penalty(2, row(3, 1), bad_endings=(3, 4)).any()
  assert not penalty(0, row(), bad_endings=(0, 3)).any()


def test_every_earlier_use_of_a_trigram_lowers_its_last_word():
  found = penalty(7, row(1, 2, 3, 1, 2, 3, 1), block_trigrams=True)
  np.testing.assert_allclose(found[0], [0, 0, -2 * 0.693, 0, 0, 0], rtol=1e-6)
  found = penalty(8, row(1, 2, 3, 1, 2, 3, 1, 2), block_trigrams=True)
  np.testing.assert_allclose(found[0], [0, 0, 0, 2 * -2 * 0.693, 0, 0], rtol=1e-6)


def test_the_trigram_being_completed_is_not_its_own_repetition():
  assert not penalty(2, row(1, 2), block_trigrams=True).any()
  assert not penalty(3, row(1, 1, 1), block_trigrams=True)[0, [0, 2, 3, 4, 5]].any()


def test_bad_endings_are_looked_up_in_the_vocabulary():
  words = vocabulary.Vocabulary("captioner", ("", "dog", "the", "with", "UNK"))
  assert sorted(constraints.bad_ending_ids(words)) == [2, 3]


def test_rules_steer_a_whole_caption():
  repeat = tiny.table({0: {2: 1.0}, 2: {2: 0.6, 1: 0.3, 0: 0.1}, 1: {0: 0.6, 2: 0.4}}, 5)
  script = tiny.Script([repeat])
  plain = config.DecodeConfig(max_length=4)
  ruled = config.DecodeConfig(max_length=4, decoding_constraint=True)
  longer = config.DecodeConfig(max_length=4, decoding_constraint=True, min_length=3)
  captions = [
    greedy.decode(script, tiny.memory(), options)["tokens"].numpy()[0].tolist()
    for options in (plain, ruled, longer)
  ]
  assert captions == [[2, 2, 2, 2], [2, 1, 0, 0], [2, 1, 2, 1]]


def test_lowered_words_are_known_without_scores():
  options = config.DecodeConfig(max_length=8, unknown="suppress", decoding_constraint=True)
  found = constraints.constraint(options, tf.constant(2), tf.constant(row(1, 3)), 6)
  answers = [
    (bool(found.lowers(tf.constant([word]))), bool(found.spoils(tf.constant([word]))))
    for word in (0, 1, 3, 5)
  ]
  assert answers == [(False, False), (False, False), (True, True), (True, False)]


def test_every_branch_is_lowered():
  options = config.DecodeConfig(max_length=8, unknown="suppress")
  found = constraints.constraint(options, tf.constant(0), tf.constant(row() * 2), 6)
  lowered = found.lower(tf.ones([2, 3, 6])).numpy()
  assert (lowered[..., -1] == -999).all() and (lowered[..., :-1] == 1).all()


def test_the_open_phrase_at_the_end_is_dropped():
  options = config.DecodeConfig(bad_endings=(4,), determiners=(1,), modifiers=(2,))
  captions = tf.constant([[3, 4, 1, 2, 0], [3, 4, 2, 0, 0], [1, 3, 0, 0, 0], [4, 1, 2, 2, 0]])
  found = constraints.drop_open_phrase(options, captions, 6).numpy().tolist()
  assert found == [[3, 0, 0, 0, 0], [3, 4, 2, 0, 0], [1, 3, 0, 0, 0], [0, 0, 0, 0, 0]]


def test_no_bare_noun_follows_is():
  options = {"links": (4,), "bare_nouns": (2, 3)}
  assert penalty(2, row(1, 4), **options)[0].tolist() == [0, 0, -1e9, -1e9, 0, 0]
  assert not penalty(2, row(4, 1), **options).any()
  assert not penalty(0, row(), **options).any()


def test_a_caption_ends_in_place_of_a_bare_noun():
  table = tiny.table({0: {1: 1.0}, 1: {4: 1.0}, 4: {2: 0.9, 3: 0.1}, 3: {0: 1.0}}, 6)
  script = tiny.Script([table])
  script.config = type("Config", (), {"vocabulary_size": 6})
  ruled = config.DecodeConfig(
    max_length=5, links=(4,), bare_nouns=(2,), bad_endings=(4,), end_below=0.2
  )
  found = greedy.decode(script, tiny.memory(), ruled)["tokens"].numpy()[0].tolist()
  assert found == [1, 0, 0, 0, 0]
