"""Speed of Up-Down: a training step, greedy decoding, beam search.

    python -m benchmarks.captioners
    python -m benchmarks.captioners --repeats=9 --vocabulary=7001 --cases=train,beam_64

The library takes turns with a plain TensorFlow version of the released programs
(peers/updown_plain.py) and, if torch is installed, with their PyTorch steps
(peers/updown_torch.py); medians count. `gemm_share` is the rate of the necessary arithmetic
as a share of the rate of a large matrix product on the same machine.
"""

import importlib.util
import json

import numpy as np
import tensorflow as tf
from absl import flags

from benchmarks import timing
from benchmarks.peers import updown_plain
from gcap_tf import errors
from gcap_tf.captioners import updown
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import decoder
from gcap_tf.training import loss_options, optimizers
from gcap_tf.training.methods import captioning

_VOCABULARY = flags.DEFINE_integer("vocabulary", 9488, "V, including the end of a sentence.", 3)
_HIDDEN = flags.DEFINE_integer("hidden", 512, "E, H and A.", 1)
_REPEATS = flags.DEFINE_integer("repeats", 5, "Timed runs of each program.", 1)
_CASES = flags.DEFINE_list(
  "cases", ["train", "greedy_10", "greedy_64", "beam_10", "beam_64"], "What to measure."
)
_PLAIN = flags.DEFINE_bool("plain", True, "Whether to measure the plain version too.")

REGIONS, FEATURES, WORDS, PICTURES, CAPTIONS = 36, 2048, 17, 10, 5


def make_batch(pictures: int, captions: int, vocabulary: int) -> dict[str, tf.Tensor]:
  """Returns a batch with captions of 10.5 words and an end on average, as in Flickr30k."""
  rng = np.random.default_rng(0)
  rows = pictures * captions
  lengths = np.clip(np.round(rng.normal(11.5, 2.5, rows)), 6, WORDS - 1).astype(int)
  places = np.arange(WORDS)
  tokens = np.where(places < lengths[:, None], rng.integers(1, vocabulary, (rows, WORDS)), 0)
  features = np.maximum(rng.normal(size=(pictures, REGIONS, FEATURES)), 0).astype(np.float32)
  return {
    "features": tf.constant(features),
    "global_feature": tf.constant(features.mean(1)),
    "region_mask": tf.ones([pictures, REGIONS], tf.bool),
    "boxes": tf.zeros([pictures, REGIONS, 4]),
    "tokens": tf.constant(tokens, tf.int32),
    "token_mask": tf.constant(places <= lengths[:, None]),
    "noun_mask": tf.zeros([rows, WORDS], tf.bool),
  }


def make_model(vocabulary: int, hidden: int) -> updown.UpDownCaptioner:
  return updown.UpDownCaptioner(
    updown.UpDownConfig(
      vocabulary_size=vocabulary,
      feature_size=FEATURES,
      global_size=FEATURES,
      embedding_size=hidden,
      hidden_size=hidden,
      attention_size=hidden,
    )
  )


def training_runs(model, batch, torch_programs) -> tuple[timing.Runs, float]:
  """Returns steps of cross entropy with clipping and Adam, and the words of a step."""
  trainer = captioning.CaptioningTrainer(model, loss_options.CaptioningLosses())
  plain = updown_plain.PlainUpDown(model)
  variables = [variable.value for variable in model.trainable_variables]
  optimizer = optimizers.Adam(optimizers.OptimizerConfig(clip="value", clip_at=0.1), variables)

  def step_of(loss_of):
    @tf.function
    def step():
      with tf.GradientTape() as tape:
        loss = loss_of()
      optimizer.apply(tape.gradient(loss, variables), tf.constant(0.0))
      return loss

    return lambda: step().numpy()

  seed = tf.constant([1, 2])
  runs = {"ours": step_of(lambda: trainer.losses(batch, seed)["cross_entropy"])}
  if _PLAIN.value:
    runs["plain"] = step_of(lambda: plain.loss(batch))
  if torch_programs:
    arrays = [batch[k].numpy() for k in ("global_feature", "features", "tokens", "token_mask")]
    runs["torch"] = lambda: torch_programs.train(*arrays)
  return runs, float(np.sum(batch["token_mask"]))


def decoding_runs(model, batch, method, torch_programs) -> tuple[timing.Runs, float]:
  """Returns decoders of captions of 20 words, and the pictures of a call."""
  options = decode_config.DecodeConfig(method=method, unknown="suppress", beam_size=3)
  run = decoder.compiled(model, options)
  plain = updown_plain.PlainUpDown(model)
  runs = {"ours": lambda: run(batch)["tokens"].numpy()}
  if _PLAIN.value:
    runs["plain"] = lambda: getattr(plain, method)(batch)
  if torch_programs:
    torch_programs.never_end()
    arrays = [batch[key].numpy() for key in ("global_feature", "features")]
    runs["torch"] = lambda: getattr(torch_programs, method)(*arrays)
  return runs, float(batch["features"].shape[0])


def flops(model: updown.UpDownCaptioner, pictures: int, rows: int, words: float, train: bool):
  """Counts the multiplications and additions that every program needs, without padding."""
  h, v = model.config.hidden_size, model.config.vocabulary_size
  encode = pictures * (REGIONS * (FEATURES * h + h * h) + FEATURES * h + 4 * h * h)
  word = 4 * h * h + 8 * h * h + 12 * h * h + h * h + 2 * REGIONS * h + h * v
  return 2.0 * (3 if train else 1) * (encode + rows * words * word)


def measure(case: str, model, torch_programs) -> dict[str, float]:
  method, _, count = case.partition("_")
  if method == "train":
    batch = make_batch(PICTURES, CAPTIONS, _VOCABULARY.value)
    runs, units = training_runs(model, batch, torch_programs)
    work = flops(model, PICTURES, 1, units, train=True)
  elif method in ("greedy", "beam") and count.isdigit():
    batch = make_batch(int(count), 1, _VOCABULARY.value)
    runs, units = decoding_runs(model, batch, method, torch_programs)
    work = flops(model, int(count), int(count) * (3 if method == "beam" else 1), 20, train=False)
  else:
    raise errors.UserError(f'unknown case "{case}"; write train, greedy_N or beam_N')
  seconds = timing.median_seconds(runs, _REPEATS.value)
  values = {f"{name}_per_second": units / value for name, value in seconds.items()}
  values |= {f"ratio_to_{n}": seconds[n] / seconds["ours"] for n in seconds if n != "ours"}
  return values | {"gemm_share": work / timing.matrix_product_rate() / seconds["ours"]}


def main(argv: list[str]) -> None:
  del argv
  sizes = (_VOCABULARY.value, FEATURES, *([_HIDDEN.value] * 3))
  torch_programs = None
  if importlib.util.find_spec("torch"):
    from benchmarks.peers import updown_torch

    torch_programs = updown_torch.Programs(*sizes)
  results = {}
  for case in _CASES.value:
    model = make_model(_VOCABULARY.value, _HIDDEN.value)
    # The model is not trained and would end at random: without ends, every program writes 20 words.
    bias = model.word_output.bias
    bias.assign(tf.tensor_scatter_nd_update(bias.value, [[0]], [-1e4]))
    results[case] = measure(case, model, torch_programs)
    line = "  ".join(f"{name} {value:,.2f}" for name, value in results[case].items())
    print(f"{case:10s} {line}", flush=True)
  print(json.dumps(results))


if __name__ == "__main__":
  errors.run(main)
