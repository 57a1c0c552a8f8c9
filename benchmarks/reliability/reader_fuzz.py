"""Fuzzes the readers of foreign files, guided by the lines of gcap_tf that an input reaches.

    python -m benchmarks.reliability.reader_fuzz --seconds=60
    python -m benchmarks.reliability.reader_fuzz --readers=coco,npz --seconds=3600 --counts=FILE
    python -m benchmarks.reliability.reader_fuzz --engine=atheris --readers=coco --seconds=600

An input that reaches a new line is kept and changed further; bytes are damaged, values of JSON
exchanged for odd ones. --keep=DIR takes inputs from DIR/READER and adds those that reach new lines.
The engine `atheris` (a package of its own) guides by branches and handles one reader at a time. An
exception other than an error for users is a defect: it is printed with the input. The exit code is
0 if there is none.
"""

import base64
import contextlib
import hashlib
import importlib
import io
import json
import pathlib
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

from absl import flags, logging

from benchmarks.reliability import counts as counts_lib
from benchmarks.reliability import damage, readers
from gcap_tf import errors

_OURS = str(pathlib.Path(errors.__file__).parent)
_INSTRUMENTED = (
  *("gcap_tf.data", "gcap_tf.metrics", "gcap_tf.text", "gcap_tf.files", "gcap_tf.box_geometry"),
  "benchmarks.reliability.readers",
)
_ODD = (None, True, -1, 0, 10**30, 1e308, 0.5, "", "x", "\ud800", [], {}, [[]], "9" * 5000)
_MOST_KEPT = 300
_LARGEST = 1 << 16
_BLOCK = 500


class Fuzzer:
  """The inputs and defects of one reader.

  Attributes:
    kept: inputs that reached a new line when they were tried.
    tried: number of inputs.
    defects: what was raised, with the input, one of each place in the source.
  """

  def __init__(self, name: str, seed: int = 0, kept: list[bytes] | None = None):
    self.reader = readers.READERS[name]
    self.kept: list[bytes] = []
    self.tried = 0
    self.defects: dict[str, bytes] = {}
    self._lines: set[tuple[str, int]] = set()
    self._rng = random.Random(f"{seed} {name}")
    for data in [*self.reader.seeds(), *(kept or [])]:
      self.try_input(data)

  def step(self) -> None:
    """Tries a changed input."""
    self.try_input(change(self._rng.choice(self.kept), self._rng))

  def try_input(self, data: bytes) -> bool:
    """Reads bytes; returns whether they reached a new line."""
    reached: set[tuple[str, int]] = set()
    _trace(lambda: self.read(data), reached)
    is_new = bool(reached - self._lines)
    self._lines |= reached
    if (is_new or not self.kept) and len(self.kept) < _MOST_KEPT and len(data) < _LARGEST:
      self.kept.append(data)
    return is_new

  def read(self, data: bytes) -> None:
    self.tried += 1
    with (
      tempfile.TemporaryDirectory() as folder,
      contextlib.redirect_stderr(io.StringIO()),  # progress bars
    ):
      try:
        self.reader.read(data, pathlib.Path(folder))
      except (errors.UserError, OSError):
        pass
      except Exception as error:
        last = traceback.extract_tb(error.__traceback__)
        ours = [each for each in last if each.filename.startswith(_OURS)] or last
        place = f"{type(error).__name__} at {ours[-1].filename}:{ours[-1].lineno}: {error}"
        self.defects.setdefault(place[:300], data)


def change(data: bytes, rng: random.Random) -> bytes:
  """Bytes after one to three damages; JSON often stays JSON."""
  for _ in range(rng.randint(1, 3)):
    changed = odd_json(data, rng) if rng.random() < 0.7 else None
    data = damage.damaged(data, rng) if changed is None else changed
  return data


def odd_json(data: bytes, rng: random.Random) -> bytes | None:
  """JSON with one value exchanged, removed or repeated; None if the bytes are no JSON."""
  first, zero, second = data.partition(b"\0")
  try:
    value = json.loads(first)
  except (ValueError, RecursionError):
    return None
  if zero and rng.random() < 0.5:
    changed = odd_json(second, rng)
    return None if changed is None else first + zero + changed
  places = list(_places(value))
  if not places:
    return json.dumps(rng.choice(_ODD)).encode() + zero + second
  parent, key = rng.choice(places)
  action = rng.randrange(4)
  if action == 0 and isinstance(parent, list):
    parent.append(parent[key])
  elif action == 1:
    del parent[key]
  elif action == 2:
    other, other_key = rng.choice(places)
    parent[key] = json.loads(json.dumps(other[other_key]))
  else:
    parent[key] = rng.choice(_ODD)
  return json.dumps(value).encode() + zero + second


def _places(value: Any):
  """(container, key) of every value inside."""
  if not isinstance(value, (list, dict)):
    return
  for key in range(len(value)) if isinstance(value, list) else list(value):
    yield value, key
    yield from _places(value[key])


def _trace(call: Callable[[], object], reached: set[tuple[str, int]]) -> None:
  """Runs a call and notes the lines of gcap_tf that it reaches."""

  def lines(frame: FrameType, event: str, _: object):
    if event == "line":
      reached.add((frame.f_code.co_filename, frame.f_lineno))
    return lines

  def calls(frame: FrameType, event: str, _: object):
    del event
    return lines if frame.f_code.co_filename.startswith(_OURS) else None

  sys.settrace(calls)
  try:
    call()
  finally:
    sys.settrace(None)


def fuzz(
  name: str, seconds: float, counts: counts_lib.Counts, keep: str = "", most: int = sys.maxsize
) -> Fuzzer:
  """Fuzzes a reader for some time, or for `most` inputs."""
  folder = pathlib.Path(keep, name) if keep else None
  stored = [path.read_bytes() for path in sorted(folder.glob("*"))] if folder else []
  fuzzer = Fuzzer(name, counts.sum("inputs"), stored)
  end, counted = time.monotonic() + seconds, 0
  while time.monotonic() < end and fuzzer.tried < most:
    fuzzer.step()
    if fuzzer.tried - counted >= _BLOCK:
      counts.add(name, inputs=fuzzer.tried - counted)
      counted = fuzzer.tried
  counts.add(name, inputs=fuzzer.tried - counted, defects=len(fuzzer.defects))
  if folder:
    folder.mkdir(parents=True, exist_ok=True)
    for data in fuzzer.kept:
      (folder / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)
  return fuzzer


def fuzz_with_atheris(name: str, seconds: float, counts: counts_lib.Counts) -> None:
  """The same with libFuzzer, which ends this process when its time is over."""
  atheris = importlib.import_module("atheris")
  fuzzer = Fuzzer(name)
  for module in [each for each in sys.modules if each.startswith(_INSTRUMENTED)]:
    del sys.modules[module]  # Imported again with the counters of atheris.
  with atheris.instrument_imports(include=list(_INSTRUMENTED)):
    fuzzer.reader = importlib.import_module("benchmarks.reliability.readers").READERS[name]
  reported: set[str] = set()

  def one_input(data: bytes) -> None:
    fuzzer.read(data)
    if fuzzer.tried % _BLOCK == 0:
      counts.add(name, inputs=_BLOCK)
    for place in fuzzer.defects.keys() - reported:
      reported.add(place)
      counts.add(name, defects=1)
      _report(name, place, data)

  with tempfile.TemporaryDirectory() as corpus:
    for number, data in enumerate(fuzzer.kept):
      (pathlib.Path(corpus) / str(number)).write_bytes(data)
    options = [f"-max_total_time={int(seconds)}", f"-max_len={_LARGEST}", "-verbosity=0"]
    atheris.Setup(["reader_fuzz", *options, corpus], one_input)
    atheris.Fuzz()


def _report(name: str, place: str, data: bytes) -> None:
  print(f"{name}: {place}\n  input: {base64.b64encode(data[:3000]).decode()}", flush=True)


def main(argv: list[str]) -> int:
  del argv
  logging.set_verbosity(logging.ERROR)
  chosen = flags.FLAGS.readers or list(readers.READERS)
  for name in chosen:
    if name not in readers.READERS:
      raise errors.UserError(f'--readers: unknown "{name}"; known: {", ".join(readers.READERS)}')
  found = 0
  with counts_lib.opened(flags.FLAGS.counts) as counts:
    for name in chosen:
      if flags.FLAGS.engine == "atheris":
        fuzz_with_atheris(name, flags.FLAGS.seconds, counts)
        continue
      fuzzer = fuzz(name, flags.FLAGS.seconds / len(chosen), counts, flags.FLAGS.keep)
      for place, data in fuzzer.defects.items():
        _report(name, place, data)
      found += len(fuzzer.defects)
      print(f"{name}: {fuzzer.tried:,} inputs, {len(fuzzer.defects)} defects", flush=True)
    print(json.dumps(counts.all()))
  return int(found > 0)


if __name__ == "__main__":
  flags.DEFINE_list("readers", [], "Readers to fuzz; all by default.")
  flags.DEFINE_float("seconds", 60.0, "Seconds for all of them together.", 0.1)
  flags.DEFINE_enum("engine", "lines", ["lines", "atheris"], "What guides the inputs.")
  flags.DEFINE_string("keep", "", "Folder of kept inputs; empty for none.")
  flags.DEFINE_string("counts", "", "File in which counts add up over runs; empty for none.")
  errors.run(main)
