import numpy as np
import tensorflow as tf

from gcap_tf.captioners import updown
from gcap_tf.decoding import config, greedy
from tests import captioner_harness
from tests.decoding import tiny

CHAIN = tiny.table({0: {2: 0.9, 1: 0.1}, 2: {3: 0.6, 0: 0.4}, 3: {0: 0.8, 1: 0.2}}, 5)


def test_follows_the_likeliest_words_to_the_end():
  decoded = greedy.decode(tiny.Script([CHAIN]), tiny.memory(), config.DecodeConfig(max_length=6))
  assert decoded["tokens"].numpy().tolist() == [[2, 3, 0, 0, 0, 0]]
  assert int(decoded["length"][0]) == 2
  expected = np.log([0.9, 0.6, 0.8, 1, 1, 1])
  np.testing.assert_allclose(decoded["token_log_prob"][0], expected, atol=1e-4)
  np.testing.assert_allclose(decoded["log_prob"][0], expected.sum(), atol=1e-4)


def test_each_word_has_the_region_that_was_looked_at_when_it_was_emitted():
  decoded = greedy.decode(tiny.Script([CHAIN]), tiny.memory(), config.DecodeConfig(max_length=4))
  # The script looks at the region numbered by the word before: 0, then 2.
  assert decoded["box_index"].numpy().tolist() == [[0, 2, -1, -1]]
  np.testing.assert_allclose(decoded["box"][0, 1], [0.25, 0.25, 0.5, 0.5])
  assert not decoded["attention"][0, 2:].numpy().any() and not decoded["box"][0, 2:].numpy().any()


def test_a_full_caption_has_no_end():
  endless = tiny.table({0: {1: 1.0}, 1: {1: 1.0}}, 3)
  decoded = greedy.decode(tiny.Script([endless]), tiny.memory(), config.DecodeConfig(max_length=3))
  assert decoded["tokens"].numpy().tolist() == [[1, 1, 1]]
  assert int(decoded["length"][0]) == 3


def test_branches_vote_and_their_boxes_are_joined():
  one, other = tiny.table({0: {2: 1.0}, 2: {0: 1.0}}, 4), tiny.table({0: {3: 1.0}, 2: {0: 1.0}}, 4)
  script = tiny.Script([other, one, one])
  decoded = greedy.decode(script, tiny.memory(), config.DecodeConfig(max_length=3))
  assert decoded["tokens"].numpy().tolist() == [[2, 0, 0]]
  assert decoded["winners"].numpy()[0, 0].tolist() == [False, True, True]
  assert int(decoded["box_index"][0, 0]) == 1
  np.testing.assert_allclose(decoded["box"][0, 0], [1 / 8, 1 / 8, 4 / 8, 4 / 8])


def test_stops_when_all_have_ended():
  """Counts the steps taken inside the graph."""
  taken = tf.Variable(0)

  class Counting(tiny.Script):
    def step(self, *args, **kwargs):
      taken.assign_add(1)
      return super().step(*args, **kwargs)

  script = Counting([CHAIN])
  tf.function(lambda: greedy.decode(script, tiny.memory(), config.DecodeConfig()))()
  assert int(taken) == 3


def test_captions_do_not_depend_on_who_shares_the_batch():
  batch = captioner_harness.make_batch(pictures=6)
  options = updown.UpDownConfig(
    vocabulary_size=11, feature_size=7, embedding_size=8, hidden_size=9, attention_size=6
  )
  captioner_harness.fix_start()
  model = updown.UpDownCaptioner(options)
  model.word_output.kernel.assign(model.word_output.kernel * 30.0)
  together = greedy.decode(model, model.encode(batch), config.DecodeConfig())
  for n in (0, 3):
    one = {key: value[n : n + 1] for key, value in batch.items() if value.shape[0] == 6}
    alone = greedy.decode(model, model.encode(one), config.DecodeConfig())
    np.testing.assert_array_equal(alone["tokens"][0], together["tokens"][n])
    np.testing.assert_allclose(alone["attention"][0], together["attention"][n], atol=1e-5)


def test_a_branch_whose_first_choice_is_forbidden_votes_with_its_next_and_counts_as_a_winner():
  unknown = tiny.table({0: {4: 0.6, 2: 0.4}, 2: {0: 1.0}}, 5)  # Word 4, the last, is UNK.
  plain = tiny.table({0: {2: 0.9, 3: 0.1}, 2: {0: 1.0}}, 5)
  options = config.DecodeConfig(max_length=3, unknown="second_best")
  decoded = greedy.decode(tiny.Script([unknown, plain]), tiny.memory(), options)
  assert decoded["tokens"].numpy().tolist() == [[2, 0, 0]]
  assert decoded["winners"].numpy()[0, 0].tolist() == [True, True]
  np.testing.assert_allclose(decoded["box"][0, 0], [0, 0, 3 / 8, 3 / 8])
