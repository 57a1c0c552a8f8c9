import itertools

import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.decoding import beam, config, greedy, repeats, sample
from tests.decoding import tiny


def row(*words):
  return [list(words) + [0] * (8 - len(words))]


def forbidden(t, history, size=9, **options):
  found = repeats.forbidden(
    config.DecodeConfig(max_length=8, **options), tf.constant(t), tf.constant(history), size
  )
  return None if found is None else sorted(set(found.numpy()[0].tolist()) - {0})


def test_nothing_is_forbidden_without_a_rule():
  assert forbidden(2, row(1, 2)) is None


def test_a_word_does_not_follow_itself():
  assert forbidden(2, row(1, 3), decoding_constraint=True) == [3]
  assert forbidden(0, row(), decoding_constraint=True) == []


def test_a_word_does_not_stand_on_both_sides_of_and():
  assert forbidden(3, row(1, 2, 5), joins=(5,)) == [2]
  assert forbidden(3, row(1, 5, 2), joins=(5,)) == []
  assert forbidden(1, row(5), joins=(5,)) == [] and forbidden(0, row(), joins=(5,)) == []


def test_an_ngram_is_not_completed_twice():
  assert forbidden(5, row(1, 2, 3, 1, 2), no_repeat_ngram=3) == [3]
  assert forbidden(5, row(1, 2, 3, 4, 2), no_repeat_ngram=3) == []
  assert forbidden(5, row(1, 2, 3, 4, 2), no_repeat_ngram=2) == [3]
  assert forbidden(3, row(1, 2, 3), no_repeat_ngram=1) == [1, 2, 3]


def test_an_ngram_does_not_count_as_its_own_repeat():
  assert forbidden(2, row(1, 2), no_repeat_ngram=3) == []
  assert forbidden(3, row(1, 1, 1), no_repeat_ngram=3) == [1]
  assert forbidden(2, row(1, 1), no_repeat_ngram=3) == []


def test_an_ngram_longer_than_a_caption_forbids_nothing():
  assert forbidden(5, row(1, 2, 3, 1, 2), no_repeat_ngram=9) == []


def test_every_form_of_a_word_that_was_said_is_forbidden():
  groups = ((2, 3), (4,))
  assert forbidden(2, row(1, 2), word_groups=groups) == [2, 3]
  assert forbidden(4, row(1, 3, 4, 1), word_groups=groups) == [2, 3, 4]
  assert forbidden(2, row(1, 5), word_groups=groups) == []


def test_a_word_may_come_again_if_a_modifier_tells_it_apart():
  options = {"word_groups": ((2, 3),), "told_apart": True, "modifiers": (7, 8)}
  assert forbidden(4, row(1, 2, 1, 7), **options) == []  # a dog a red
  assert forbidden(5, row(7, 2, 1, 1, 7), **options) == [2, 3]  # red dog a a red
  assert forbidden(5, row(7, 2, 1, 1, 8), **options) == []  # red dog a a blue
  assert forbidden(4, row(7, 2, 1, 1), **options) == [2, 3]


REPEAT = tiny.table(
  {0: {2: 0.8, 1: 0.2}, 2: {2: 0.5, 1: 0.3, 0: 0.2}, 1: {2: 0.6, 0: 0.25, 3: 0.15}, 3: {0: 0.9}}, 6
)
RULED = {"word_groups": ((2,),), "decoding_constraint": True, "no_repeat_ngram": 2}


@pytest.mark.parametrize("pictures", [1, 3])
@pytest.mark.parametrize("branches", [1, 2])
def test_no_decoder_says_a_word_again(pictures, branches):
  script, memory = tiny.Script([REPEAT] * branches), tiny.memory(pictures)
  options = config.DecodeConfig(max_length=6, samples=40, **RULED)
  found = [greedy.decode(script, memory, options), beam.decode(script, memory, options)]
  found.append(sample.decode(script, memory, options, tf.constant([1, 2])))
  for decoded in found:
    for caption in decoded["tokens"].numpy().tolist():
      assert caption.count(2) <= 1
      words = [word for word in caption if word]
      assert all(a != b for a, b in itertools.pairwise(words))


def test_greedy_choice_takes_the_next_best_word():
  options = config.DecodeConfig(max_length=6, **RULED)
  found = greedy.decode(tiny.Script([REPEAT]), tiny.memory(), options)
  assert found["tokens"].numpy()[0].tolist() == [2, 1, 0, 0, 0, 0]


def test_rules_change_nothing_in_captions_that_follow_them():
  calm = tiny.table({0: {1: 1.0}, 1: {2: 1.0}, 2: {3: 1.0}, 3: {0: 1.0}}, 6)
  script, memory = tiny.Script([calm]), tiny.memory(2)
  for decoder in (greedy, beam):
    plain = decoder.decode(script, memory, config.DecodeConfig(max_length=6))
    ruled = decoder.decode(script, memory, config.DecodeConfig(max_length=6, **RULED))
    for name, value in plain.items():
      np.testing.assert_array_equal(value, ruled[name], err_msg=name)
