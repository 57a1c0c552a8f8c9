import numpy as np
import pytest
import tensorflow as tf

from gcap_tf.captioners import updown
from gcap_tf.decoding import config, decoder
from tests import captioner_harness
from tests.decoding import tiny


def model(**options):
  captioner_harness.fix_start()
  sizes = {"embedding_size": 8, "hidden_size": 9, "attention_size": 6, "feature_size": 7}
  return updown.UpDownCaptioner(updown.UpDownConfig(vocabulary_size=11, **sizes, **options))


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
@pytest.mark.parametrize("branches", [1, 3])
def test_every_method_answers_in_the_same_form(method, branches):
  batch = captioner_harness.make_batch()
  run = decoder.compiled(model(branches=branches), config.DecodeConfig(method=method, max_length=9))
  decoded = run(batch, tf.constant([1, 2]))
  shapes = {
    "tokens": (3, 9),
    "token_log_prob": (3, 9),
    "log_prob": (3,),
    "length": (3,),
    "attention": (3, 9, branches, 5),
    "winners": (3, 9, branches),
    "box_index": (3, 9),
    "box": (3, 9, 4),
  }
  assert {key: tuple(decoded[key].shape) for key in shapes} == shapes
  total = decoded["attention"].numpy().sum(-1)
  words = np.arange(9) < decoded["length"].numpy()[:, None]
  np.testing.assert_allclose(total, np.repeat(words[..., None], branches, 2), atol=1e-5)


def test_methods_are_told_apart():
  trap = tiny.table({0: {1: 0.6, 2: 0.4}, 1: {0: 0.3, 1: 0.35, 3: 0.35}, 2: {0: 1.0}}, 5)
  script, first = tiny.Script([trap]), {}
  for method in ("greedy", "beam"):
    options = config.DecodeConfig(method=method, max_length=3)
    first[method] = int(decoder.decode(script, tiny.memory(), options)["tokens"][0, 0])
  assert first == {"greedy": 1, "beam": 2}


def test_sampling_without_a_seed_is_refused():
  with pytest.raises(ValueError, match="seed"):
    decoder.decode(tiny.Script([np.zeros((3, 3))]), tiny.memory(), config.DecodeConfig("sample"))


def test_batches_of_other_sizes_share_one_graph():
  captioner, traces = model(), []
  encode = captioner.encode
  captioner.encode = lambda batch, seed=None: traces.append(1) or encode(batch, seed)
  run = decoder.compiled(captioner, config.DecodeConfig(max_length=4))
  for pictures in (3, 5, 2, 4):
    run(captioner_harness.make_batch(pictures=pictures))
  assert len(traces) <= 2
