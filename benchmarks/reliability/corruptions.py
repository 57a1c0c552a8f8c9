"""Damages stored data at random and checks that no program takes it for whole.

    python -m benchmarks.reliability.corruptions --count=100
    python -m benchmarks.reliability.corruptions --count=2500 --counts=FILE      # adds up

Each case has one file of a small folder flipped, cut, zeroed, moved about, exchanged or removed,
and reads the folder as the programs do:

shards       a prepared folder: every record, index, vocabulary, references, captions
checkpoints  training states of a run: the newest whole one, with its step
run          a finished run: options, words, best weights
packed       a packed run: options, words, weights, word classes, calibration
store        a region store of `trainers.extract_regions`: every picture

refused    an error that names the file
unchanged  the content is what it was
earlier    an earlier training state, with a message
absent     a calibration, which runs may lack, was removed
silent     other content without a word: must be 0
crashed    any other exception: must be 0

Prints the counts of each case, then one JSON object; the exit code is 0 if silent and crashed
are 0.
"""

import collections
import contextlib
import dataclasses
import hashlib
import io
import json
import pathlib
import random
import tempfile
from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf
from absl import flags

from benchmarks.load import drawn_model
from benchmarks.reliability import counts as counts_lib
from benchmarks.reliability import damage
from gcap_tf import errors, files
from gcap_tf.data import records
from gcap_tf.data.prepared import prepare, prepared_data, shards
from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.data.stores import extracted_store, simulated_detector, store_formats
from gcap_tf.decoding import confidence
from gcap_tf.metrics import coco_io, results_io
from gcap_tf.runs import checkpoints, packed_run, run_answers, run_folders, run_words

BAD = ("silent", "crashed")
_STEPS = (10, 20, 30)
_EARLIER, _ABSENT = "earlier", "absent"
_BLOCK = 50  # corruptions between two writes of the counts


@dataclasses.dataclass
class Target:
  """A folder on disk and what a program reads there.

  Attributes:
    folder: what is damaged.
    read: returns the content as text or bytes; other content is other bytes.
    accepted: contents that are right, by outcome.
  """

  folder: pathlib.Path
  read: Callable[[], bytes]
  accepted: dict[bytes, str] = dataclasses.field(default_factory=dict)

  def __post_init__(self):
    self.accepted[self.read()] = "unchanged"
    self.kept = damage.Folder(self.folder)


def shards_target(folder: pathlib.Path) -> Target:
  config = prepare.PrepareConfig(
    dataset="scenes",
    regions="noisy",
    shards=2,
    scenes=drawn_scenes.SceneConfig(train=6, val=3, test=2, captions=2),
    noisy=dataclasses.replace(simulated_detector.LEVELS["default"], regions=4, feature_size=8),
  )
  prepare.prepare(config, folder / "data", workers=1)

  def read() -> bytes:
    data = prepared_data.PreparedData(folder / "data")
    content = hashlib.sha256(repr(data.build_vocabulary("captioner", 1).to_json()).encode())
    content.update(repr((data.feature_size, data.object_classes, data.splits)).encode())
    for name in data.splits:
      split = data.split(name)
      try:
        for position in range(len(split)):
          content.update(shards.encode(split.record(position)))
      finally:
        split.close()
      for array in (split.captions, split.words, split.regions, split.image_ids):
        content.update(repr(array.tolist()).encode())
      path = data.references_path(name)
      content.update(repr(results_io.read_references(path, files.read_json(path))).encode())
      content.update(repr(coco_io.read_references(data.captions_path(name))).encode())
    return content.digest()

  return Target(folder / "data", read)


def checkpoints_target(folder: pathlib.Path) -> Target:
  """Three training states; a damaged one gives way to the one before it."""
  model = keras.Sequential([keras.layers.Input([6]), keras.layers.Dense(5)])
  step = tf.Variable(0, dtype=tf.int64)
  states = checkpoints.StepCheckpoints(folder / "checkpoints")
  rng = np.random.default_rng(0)
  contents = {}
  for number in _STEPS:
    _randomise(model, rng)
    step.assign(number)
    states.save(number, model=model, extra=tf.train.Checkpoint(step=step))
    contents[number] = _weights(model)

  def read() -> bytes:
    _randomise(model, np.random.default_rng(1))
    found = states.restore_newest(model=model, extra=tf.train.Checkpoint(step=step))
    if found == 0:
      raise errors.UserError("no whole checkpoint is left")
    return repr((found, int(step.numpy()), _weights(model))).encode()

  target = Target(folder / "checkpoints", read)
  for number in _STEPS[:-1]:
    target.accepted[repr((number, number, contents[number])).encode()] = _EARLIER
  return target


def run_target(folder: pathlib.Path) -> Target:
  run = folder / "run"
  _write_run(run)
  (run / run_answers.FILE).rename(folder / run_answers.FILE)
  without = _read_run(run)
  (folder / run_answers.FILE).rename(run / run_answers.FILE)
  return Target(run, lambda: _read_run(run), {without: _ABSENT})


def packed_target(folder: pathlib.Path) -> Target:
  _write_run(folder / "whole")
  packed_run.pack(folder / "whole", folder / "packed")
  return Target(folder / "packed", lambda: _read_run(folder / "packed"))


def store_target(folder: pathlib.Path) -> Target:
  rng, store = np.random.default_rng(0), folder / "store"
  for number in range(3):
    low = rng.uniform(0, 50, (4, 2))
    regions = records.Regions(
      boxes_px=np.concatenate([low, low + 20], 1).astype(np.float32),
      features=rng.normal(size=(4, 8)).astype(np.float32),
      labels=("man", "dog", "ball", "tree"),
      scores=rng.random(4, np.float32),
      global_feature=rng.normal(size=8).astype(np.float32),
      grid_features=rng.normal(size=(4, 8)).astype(np.float32),
      colours=("red", "", "blue", ""),
    )
    extracted_store.write_picture(store, f"picture{number}", regions, (100, 80))
  info = extracted_store.StoreInfo(
    *("shipped", 4, 0.1, 8, 8, 8, 4), {"labels": [0, 4]}, ["man", "dog"], ["red"], "0" * 16
  )
  extracted_store.write_info(store, info)
  listed = tuple(store_formats.open_store(store).ids())

  def read() -> bytes:
    opened = store_formats.open_store(store)
    content = [repr((opened.info, [opened.get(image_id) for image_id in listed]))]
    content += [repr(opened.size(image_id)) for image_id in listed]
    for image_id in listed:
      found = opened.get(image_id, 100, 80)
      arrays = (found.boxes_px, found.features, found.scores, found.global_feature)
      arrays += (found.grid_features,)
      content += [repr(array if array is None else array.tobytes()) for array in arrays]
    return "".join(content).encode()

  return Target(store, read)


TARGETS: dict[str, Callable[[pathlib.Path], Target]] = {
  "shards": shards_target,
  "checkpoints": checkpoints_target,
  "run": run_target,
  "packed": packed_target,
  "store": store_target,
}


def outcome(target: Target) -> tuple[str, str]:
  """What became of a damaged folder, and the text of its error."""
  try:
    with contextlib.redirect_stdout(io.StringIO()):
      content = target.read()
  except (errors.UserError, OSError) as error:
    return "refused", str(error)
  except Exception as error:
    return "crashed", f"{type(error).__name__}: {error}"
  return target.accepted.get(content, "silent"), ""


def corrupt(name: str, count: int, counts: counts_lib.Counts, seed: int = 0) -> list[str]:
  """Damages a target `count` times; returns a line for each silent or crashed case."""
  bad, first = [], counts.total(name)
  with tempfile.TemporaryDirectory() as temporary:
    target = TARGETS[name](pathlib.Path(temporary))
    for start in range(first, first + count, _BLOCK):
      found = collections.Counter()
      for number in range(start, min(start + _BLOCK, first + count)):
        what = target.kept.damage(random.Random(f"{seed} {name} {number}"))
        result, message = outcome(target)
        target.kept.restore()
        found[result] += 1
        if result in BAD:
          bad.append(f"{name} {number}: {what}: {result} {message}".strip())
          print(bad[-1], flush=True)
      counts.add(name, **found)
  return bad


def main(argv: list[str]) -> int:
  del argv
  for name in flags.FLAGS.cases:
    if name not in TARGETS:
      raise errors.UserError(f'--cases: unknown "{name}"; known: {", ".join(TARGETS)}')
  with counts_lib.opened(flags.FLAGS.counts) as counts:
    for name in flags.FLAGS.cases:
      corrupt(name, flags.FLAGS.count, counts, flags.FLAGS.seed)
      print(f"{name}: {counts.total(name):,} corruptions, {counts.of(name)}", flush=True)
    found = counts.all()
  print(json.dumps(found))
  return int(any(outcomes.get(bad) for outcomes in found.values() for bad in BAD))


def _write_run(folder: pathlib.Path) -> None:
  model, vocabulary = drawn_model.make(hidden=4, features=4, words=8)
  run_folders.save(folder, "captioner", "updown", model, vocabulary, {"training": {"seed": 1}})
  calibration = confidence.Calibration(
    word_weights=(0.5,) * len(confidence.WORD_EVIDENCE),
    word_bias=0.0,
    caption_weights=(0.25,) * len(confidence.CAPTION_EVIDENCE),
    caption_bias=0.0,
  )
  run_answers.write(folder / run_answers.FILE, calibration, {})
  run_words.of(folder, vocabulary)


def _read_run(folder: pathlib.Path) -> bytes:
  found = run_folders.load(folder, "captioner")
  rules = run_answers.rules(found)
  parts = (found.kind, found.name, found.config, found.vocabulary.to_json(), rules)
  return repr((parts, _weights(found.model))).encode()


def _weights(model: keras.Model) -> str:
  content = hashlib.sha256()
  for variable in model.variables:
    content.update(np.asarray(variable).tobytes())
  return content.hexdigest()


def _randomise(model: keras.Model, rng: np.random.Generator) -> None:
  for variable in model.variables:
    variable.assign(rng.normal(size=variable.shape).astype(np.float32))


if __name__ == "__main__":
  flags.DEFINE_integer("count", 100, "Corruptions of each case.", 1)
  flags.DEFINE_list("cases", list(TARGETS), "What to damage.")
  flags.DEFINE_integer("seed", 0, "Seed of the damage.")
  flags.DEFINE_string("counts", "", "File in which counts add up over runs; empty for none.")
  errors.run(main)
