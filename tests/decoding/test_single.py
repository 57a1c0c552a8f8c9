import tensorflow as tf

from gcap_tf.decoding import config, single
from tests.decoding import tiny


def test_the_choice_is_the_callers_and_ended_sequences_stay_ended():
  def choose(logits, rules, t):
    return tf.where(t == 1, 0, 3) + tf.zeros([tf.shape(logits)[0]], tf.int32)

  script = tiny.Script([tiny.table({}, 5)])
  options = config.DecodeConfig(max_length=4)
  decoded = single.decode(script, tiny.memory(2), options, choose, copies=2)
  assert decoded["tokens"].numpy().tolist() == [[3, 0, 0, 0]] * 4


def test_the_choice_sees_the_constraints():
  seen = []

  def choose(logits, rules, t):
    seen.append(rules.lower(logits).numpy()[0, 0, -1])
    return tf.zeros([1], tf.int32)

  script = tiny.Script([tiny.table({}, 5)])
  single.decode(script, tiny.memory(), config.DecodeConfig(unknown="suppress"), choose)
  assert seen[0] < -1000
