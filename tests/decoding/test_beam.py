import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.decoding import beam, config, greedy
from gcap_tf.interop import captioner_checkpoints
from tests import updown_oracle
from tests.decoding import tiny
from tests.interop import test_captioner_checkpoints as importing

# Greedy takes 1 (0.6) and ends with 0.6 * 0.3; the better caption starts with 2.
TRAP = tiny.table(
  {0: {1: 0.6, 2: 0.4}, 1: {0: 0.3, 1: 0.35, 3: 0.35}, 2: {0: 0.9, 1: 0.1}, 3: {0: 1.0}}, 5
)


def test_finds_what_greedy_decoding_misses():
  script, options = tiny.Script([TRAP]), config.DecodeConfig(beam_size=2, max_length=4)
  assert greedy.decode(script, tiny.memory(), options)["tokens"].numpy()[0, 0] == 1
  decoded = beam.decode(script, tiny.memory(), options)
  assert decoded["tokens"].numpy().tolist() == [[2, 0, 0, 0]]
  np.testing.assert_allclose(decoded["score"][0], np.log(0.4 * 0.9), atol=1e-4)
  np.testing.assert_allclose(decoded["log_prob"][0], np.log(0.4 * 0.9), atol=1e-4)


def test_one_beam_is_greedy_decoding():
  script, options = tiny.Script([TRAP]), config.DecodeConfig(beam_size=1, max_length=6)
  first = greedy.decode(script, tiny.memory(), options)
  second = beam.decode(script, tiny.memory(), options)
  for key in ("tokens", "box_index", "length"):
    np.testing.assert_array_equal(first[key], second[key])
  np.testing.assert_allclose(first["attention"], second["attention"])


def test_attention_follows_the_winning_caption_through_its_beams():
  decoded = beam.decode(tiny.Script([TRAP]), tiny.memory(), config.DecodeConfig(max_length=4))
  words = decoded["tokens"].numpy()[0]
  # The script looks at the region numbered by the word before.
  looked = [0, *words[:-1]]
  for t in range(int(decoded["length"][0])):
    assert int(decoded["box_index"][0, t]) == looked[t] % 4


@pytest.mark.parametrize(
  "options, arguments",
  [
    ({"beam_size": 5}, {"beam_size": 5}),
    ({"beam_size": 3, "unknown": "allow"}, {"beam_size": 3, "suppress_unknown": False}),
    ({"decoding_constraint": True}, {"beam_size": 3, "decoding_constraint": True}),
    (
      {"length_penalty": "wu", "length_alpha": 0.9},
      {"beam_size": 3, "length_penalty": "wu", "alpha": 0.9},
    ),
    ({"length_penalty": "average"}, {"beam_size": 3, "length_penalty": "average"}),
  ],
  ids=["five", "unknown", "no repetition", "wu", "average"],
)
def test_equals_a_plain_search_under_every_option(options, arguments):
  compared, differs_from_default = 0, 0
  for seed in range(4):
    rng = np.random.default_rng(100 + seed)
    weights = updown_oracle.make_lively_weights(rng, ending=4.0 * seed)
    _, model = captioner_checkpoints.import_updown(weights, {}, importing.WORDS)
    batch, pictures = importing.batch_of(rng, 4)
    full = config.DecodeConfig(**({"unknown": "suppress", "max_length": 10} | options))
    decoded = beam.decode(model, model.encode(batch), full)
    for n, picture in enumerate(pictures):
      oracle = updown_oracle.UpDown(weights, *picture)
      tokens, _, score, margin = updown_oracle.beam_search(oracle, max_length=10, **arguments)
      if margin < 1e-4:
        continue
      compared += 1
      differs_from_default += tokens != updown_oracle.beam_search(oracle, 3, 10)[0]
      assert importing.WORDS.decode(decoded["tokens"][n]) == importing.WORDS.decode(tokens)
      np.testing.assert_allclose(decoded["score"][n], score, rtol=1e-3, atol=1e-3)
  assert compared > 8 and differs_from_default > 0


def test_ending_early_changes_no_answer():
  """A beam that ended stays ahead of what a longer search could find."""
  steps = tf.Variable(0)

  class Counting(tiny.Script):
    def step(self, *args, **kwargs):
      steps.assign_add(1)
      return super().step(*args, **kwargs)

  sure = tiny.table({0: {1: 1.0}, 1: {0: 1.0}}, 4)
  decode = tf.function(
    lambda: beam.decode(Counting([sure]), tiny.memory(), config.DecodeConfig(max_length=20))
  )
  assert decode()["tokens"].numpy()[0, :3].tolist() == [1, 0, 0]
  assert int(steps) == 2


def test_captions_do_not_depend_on_who_shares_the_batch():
  rng = np.random.default_rng(3)
  weights = updown_oracle.make_lively_weights(rng, ending=4.0)
  _, model = captioner_checkpoints.import_updown(weights, {}, importing.WORDS)
  batch, _ = importing.batch_of(rng, 5)
  together = beam.decode(model, model.encode(batch), config.DecodeConfig())
  for n in range(5):
    one = {key: value[n : n + 1] for key, value in batch.items()}
    alone = beam.decode(model, model.encode(one), config.DecodeConfig())
    np.testing.assert_array_equal(alone["tokens"][0], together["tokens"][n])
    np.testing.assert_allclose(alone["attention"][0], together["attention"][n], atol=1e-5)


def test_branches_share_beams_by_their_mean_distribution():
  one, other = tiny.table({0: {2: 1.0}, 2: {0: 1.0}}, 4), tiny.table({0: {3: 1.0}, 2: {0: 1.0}}, 4)
  script = tiny.Script([other, one, one])
  decoded = beam.decode(script, tiny.memory(), config.DecodeConfig(max_length=3))
  assert decoded["tokens"].numpy().tolist() == [[2, 0, 0]]
  assert decoded["winners"].numpy()[0, 0].tolist() == [False, True, True]
  np.testing.assert_allclose(decoded["box"][0, 0], [1 / 8, 1 / 8, 4 / 8, 4 / 8])


def test_a_branch_whose_first_choice_is_forbidden_counts_as_a_winner_of_its_next():
  unknown = tiny.table({0: {4: 0.6, 2: 0.4}, 2: {0: 1.0}}, 5)  # Word 4, the last, is UNK.
  plain = tiny.table({0: {2: 0.9, 3: 0.1}, 2: {0: 1.0}}, 5)
  options = config.DecodeConfig(beam_size=2, max_length=3, unknown="suppress")
  decoded = beam.decode(tiny.Script([unknown, plain]), tiny.memory(), options)
  assert decoded["tokens"].numpy().tolist() == [[2, 0, 0]]
  assert decoded["winners"].numpy()[0, 0].tolist() == [True, True]
  np.testing.assert_allclose(decoded["box"][0, 0], [0, 0, 3 / 8, 3 / 8])
