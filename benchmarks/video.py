"""Speed and memory of a training step on videos: segments of 10 x 100 regions, and 480 frames.

    python -m benchmarks.video
    python -m benchmarks.video --model=gvd --batch=16 --repeats=3 --torch=/path/to/python

The step takes turns with a plain PyTorch statement of the same step (peers/video_torch.py), each
in a process of its own, so that the memory of each is its own; `--torch` names a Python that has
torch, if this one has none. Two cases:

    full    1,000 regions a segment, 480 frames a video: no padding anywhere
    padded  as data is: regions without score are left out, and videos are shorter than 480 frames.
            `--regions` and `--frames` are mean shares; the released programs compute all slots

On a busy machine take `--threads=1` and compare processor seconds, which others cannot stretch. The
last line is one JSON object: seconds of a step, processor seconds, peak memory in GiB, the ratios.
"""

import importlib.util
import json
import resource
import statistics
import subprocess
import sys
import time

import numpy as np
from absl import flags

from gcap_tf import errors

_MODEL = flags.DEFINE_enum("model", "cyclical", ["gvd", "cyclical"], "Whose step.")
_BATCH = flags.DEFINE_integer("batch", 16, "Segments of a step.", 1)
_REPEATS = flags.DEFINE_integer("repeats", 3, "Timed steps of each program.", 1)
_CASES = flags.DEFINE_list("cases", ["full", "padded"], "What to measure.")
_REGIONS = flags.DEFINE_float("regions", 0.5, "Mean share of regions in the padded case.", 0, 1)
_FRAMES = flags.DEFINE_float("frames", 0.5, "Mean share of frames in the padded case.", 0, 1)
_THREADS = flags.DEFINE_integer("threads", 0, "Threads of each program; 0: its own choice.", 0)
_SCALE = flags.DEFINE_integer("scale", 1, "Divides every size, to try the program.", 1)
_TORCH = flags.DEFINE_string("torch", "", "Python that has torch; default: this one.")
_CHILD = flags.DEFINE_string("child", "", "Internal: which program this process times.")

FRAMES, PER_FRAME, SLOTS, WORDS, PARTS = 10, 100, 480, 20, (2048, 1024)
SIZES = {"v": 4905, "c": 431, "d": 2048, "e": 512, "h": 1024, "a": 512}
PLACE, POSITION = 300, 50


def sizes() -> dict[str, int]:
  return {name: max(2, value // _SCALE.value) for name, value in SIZES.items()}


def parts() -> tuple[int, ...]:
  return tuple(part // _SCALE.value for part in PARTS)


def make_arrays(case: str) -> dict[str, np.ndarray]:
  """A batch as the plain program reads it."""
  rng, batch, known = np.random.default_rng(0), _BATCH.value, sizes()
  regions, slots = FRAMES * max(1, PER_FRAME // _SCALE.value), max(8, SLOTS // _SCALE.value)
  real, lengths = np.ones([batch, regions], bool), np.full(batch, slots)
  if case == "padded":
    count = np.clip(rng.normal(_REGIONS.value, 0.1, batch), 0.05, 1) * regions
    real = np.arange(regions) < count.astype(int)[:, None]
    shares = np.clip(rng.normal(_FRAMES.value, 0.2, batch), 0.1, 1)
    lengths = (shares * slots).astype(int)
  place = np.arange(slots)
  start = (rng.uniform(0, 0.5, batch) * lengths).astype(int)
  end = np.maximum(start + 1, (rng.uniform(0.6, 1, batch) * lengths).astype(int))
  frames = rng.normal(size=[batch, slots, sum(parts())]) * (place < lengths[:, None])[..., None]
  words = np.clip(np.round(rng.normal(13.5, 4, batch)), 5, WORDS - 1).astype(int)
  tokens = rng.integers(1, known["v"], [batch, WORDS])
  features = np.maximum(rng.normal(size=[batch, regions, known["d"]]), 0)
  return {
    "features": (features * real[..., None]).astype(np.float32),
    "boxes": np.sort(rng.uniform(size=[batch, regions, 4]).astype(np.float32), 2),
    "frame": np.tile(np.arange(regions) // (regions // FRAMES), (batch, 1)).astype(np.float32),
    "region_mask": real,
    "frames": frames.astype(np.float32),
    "frame_mask": place < lengths[:, None],
    "in_segment": (start[:, None] <= place) & (place < end[:, None]),
    "mean": frames.mean(1).astype(np.float32),
    "position": np.tile(np.array([0, 3, 0.1, 0.5], np.float32), (batch, 1)),
    "tokens": np.where(np.arange(WORDS) < words[:, None], tokens, 0),
    "token_mask": np.arange(WORDS) <= words[:, None],
  }


def plain_step(arrays: dict[str, np.ndarray]):
  """The step of the plain PyTorch program."""
  import torch

  from benchmarks.peers import video_torch

  torch.set_num_threads(_THREADS.value or torch.get_num_threads())
  program = video_torch.Program(
    **sizes(), parts=parts(), place=PLACE, position=POSITION, cycle=_MODEL.value == "cyclical"
  )
  return lambda: program.train(arrays)


def our_step(arrays: dict[str, np.ndarray]):
  """The step that training takes, without reading data."""
  import tensorflow as tf

  from gcap_tf.captioners import catalog
  from gcap_tf.training import loss_options, optimizers
  from gcap_tf.training.methods import captioning

  tf.config.threading.set_intra_op_parallelism_threads(_THREADS.value)
  tf.config.threading.set_inter_op_parallelism_threads(_THREADS.value)
  cycle, known = _MODEL.value == "cyclical", sizes()
  cls = catalog.CAPTIONERS.get(_MODEL.value)
  model = cls(
    cls.Config(
      vocabulary_size=known["v"],
      num_classes=known["c"],
      feature_size=known["d"],
      region_size=known["d"],
      embedding_size=known["e"],
      hidden_size=known["h"],
      attention_size=known["a"],
      location_size=PLACE,
      num_frames=FRAMES,
      grid_size=sum(parts()),
      frame_parts=parts(),
      frame_layers=2,
      segment_size=POSITION,
      global_size=sum(parts()) + 4,
    )
  )
  half = dict(cross_entropy_weight=0.5, reconstruction_weight=0.5) if cycle else {}
  trainer = captioning.CaptioningTrainer(model, loss_options.CaptioningLosses(**half))
  variables = [variable.value for variable in model.trainable_variables]
  optimizer = optimizers.Adam(optimizers.OptimizerConfig(clip="norm", clip_at=0.1), variables)
  batch, seed = tensors(arrays), tf.constant([1, 2])

  @tf.function
  def step():
    with tf.GradientTape() as tape:
      loss = tf.add_n(list(trainer.losses(batch, seed).values()))
    optimizer.apply(tape.gradient(loss, variables), tf.constant(0.0))
    return loss

  return lambda: step().numpy()


def tensors(arrays: dict[str, np.ndarray]):
  """The batch as our captioners read it: regions and frames as many as the fullest row has."""
  from gcap_tf import batch as batches

  most = {name: int(arrays[name].sum(1).max()) for name in ("region_mask", "frame_mask")}
  regions, slots = most["region_mask"], most["frame_mask"]
  inside = arrays["in_segment"]
  first, end = inside.argmax(1), inside.shape[1] - inside[:, ::-1].argmax(1)
  cut = {name: arrays[name][:, :regions] for name in ("features", "boxes", "frame", "region_mask")}
  return batches.tensors(
    {
      **cut,
      "frame": cut["frame"].astype(np.int32),
      "region_labels": np.zeros_like(cut["frame"], np.int32),
      "grid_features": arrays["frames"][:, :slots],
      "grid_mask": arrays["frame_mask"][:, :slots],
      "segment": np.stack([first, end], 1),
      "global_feature": np.concatenate([arrays["mean"], arrays["position"]], 1),
      "tokens": arrays["tokens"],
      "token_mask": arrays["token_mask"],
      "noun_mask": np.zeros_like(arrays["token_mask"]),
    }
  )


def serve_steps(name: str, case: str) -> None:
  """In a child: takes a step for every line of the input, and answers seconds and memory."""
  step = {"ours": our_step, "torch": plain_step}[name](make_arrays(case))
  step()  # Traces, or allocates.
  print("ready", flush=True)
  for _ in sys.stdin:
    started, worked = time.perf_counter(), time.process_time()
    step()
    found = {
      "seconds": time.perf_counter() - started,
      "cpu": time.process_time() - worked,
      "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }
    print(json.dumps(found), flush=True)


class Child:
  """A process that takes steps when asked."""

  def __init__(self, python: str, name: str, case: str):
    words = [python, "-m", "benchmarks.video", f"--child={name}", f"--cases={case}"]
    for flag in (_MODEL, _BATCH, _REGIONS, _FRAMES, _SCALE, _THREADS):
      words.append(f"--{flag.name}={flag.value}")
    pipe = subprocess.PIPE
    self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True)
    self.found: list[dict[str, float]] = []
    if self._line() != "ready":
      raise errors.UserError(f"{' '.join(words)} did not start")

  def step(self) -> None:
    self.process.stdin.write("\n")
    self.process.stdin.flush()
    self.found.append(json.loads(self._line()))

  def end(self) -> None:
    self.process.stdin.close()
    self.process.wait()

  def _line(self) -> str:
    return self.process.stdout.readline().strip()


def measure(case: str) -> dict[str, float]:
  programs = {"ours": sys.executable}
  if _TORCH.value or importlib.util.find_spec("torch"):
    programs["torch"] = _TORCH.value or sys.executable
  children = {name: Child(python, name, case) for name, python in programs.items()}
  for _ in range(_REPEATS.value):
    for name, child in children.items():
      child.step()
      seconds, cpu, gib = child.found[-1].values()
      line = f"{case}: {name} {seconds:.2f} s, {cpu:.2f} s of processor, {gib:.2f} GiB"
      print(line, file=sys.stderr, flush=True)
  values = {}
  for name, child in children.items():
    child.end()
    for key, unit in (("seconds", "seconds"), ("cpu", "cpu_seconds")):
      values[f"{name}_{unit}"] = statistics.median(found[key] for found in child.found)
    values[f"{name}_gib"] = max(found["gib"] for found in child.found)
  if "torch" in children:
    for unit in ("seconds", "cpu_seconds"):
      values[f"ratio_of_{unit}"] = values[f"torch_{unit}"] / values[f"ours_{unit}"]
  return values


def main(argv: list[str]) -> None:
  del argv
  if _CHILD.value:
    return serve_steps(_CHILD.value, _CASES.value[0])
  results = {}
  for case in _CASES.value:
    if case not in ("full", "padded"):
      raise errors.UserError(f'unknown case "{case}"; choose full or padded')
    results[case] = measure(case)
    line = "  ".join(f"{name} {value:,.2f}" for name, value in results[case].items())
    print(f"{case:8s} {line}", flush=True)
  return print(json.dumps(results))


if __name__ == "__main__":
  errors.run(main)
