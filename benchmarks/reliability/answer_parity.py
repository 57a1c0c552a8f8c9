"""Compares exported answers in four runtimes: Python, SavedModel, server and Java.

    python -m benchmarks.reliability.answer_parity --pictures=DIR --count=100
    python -m benchmarks.reliability.answer_parity --pictures=DIR --count=2500 --counts=FILE

The captioner of photographs (--run, by default the shipped one) is exported. Photographs, and
regions drawn at random, get their answers from the Python model, from the SavedModel, from the
embedded server and, if `serving/java/build.sh` has been run, from TensorFlow's Java library. Words,
indices and boxes must be equal; Java prints no boxes. Greedy and beam search take turns. Prints
the first differences and the counts; the exit code is 0 if all answers are equal.

Without --pictures, the photographs are drawn. A later run with the same --counts goes on with the
next pictures.
"""

import base64
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf
from absl import flags

import serving
from benchmarks.load import probes
from benchmarks.reliability import counts as counts_lib
from benchmarks.reliability import damaged_files
from export import captioner_module, photograph_module, saved_model
from gcap_tf import errors
from gcap_tf.evaluation import captioner_evaluation
from gcap_tf.runs import run_folders
from gcap_tf.vision import pictures
from serving import client

Arrays = dict[str, np.ndarray]
_BLOCK = 8  # pictures of one request, and of one start of Java
_REGIONS = 12
_BOX_BITS = 1e-6  # of a side of the picture
_SIGNATURES = {
  "photographs": (photograph_module.GREEDY, photograph_module.BEAM),
  "regions": ("greedy", "beam"),
}
_JAVA = pathlib.Path(serving.__file__).parent / "java" / "caption.sh"
NAME = "captioner"


def photograph_blocks(
  files: Sequence[pathlib.Path], first: int, count: int, block: int
) -> Iterator[Arrays]:
  """Requests of photographs; drawn ones if there are no files."""
  for start in range(first, first + count, block):
    rows = range(start, min(start + block, first + count))
    if files:
      data = [files[row % len(files)].read_bytes() for row in rows]
    else:
      data = damaged_files.photographs(len(rows), start)
    yield {photograph_module.IMAGE_BYTES: np.array(data, object)}


def region_blocks(
  specs: dict[str, tf.TensorSpec], first: int, count: int, block: int
) -> Iterator[Arrays]:
  """Requests of random regions, 0 to 12 of each picture."""
  for start in range(first, first + count, block):
    rng = np.random.default_rng(start)
    rows = min(block, first + count - start)
    low = rng.uniform(0, 0.5, (rows, _REGIONS, 2))
    found = {
      "boxes": np.concatenate([low, low + rng.uniform(0.05, 0.5, low.shape)], -1),
      "num_regions": rng.integers(0, _REGIONS + 1, rows),
    }
    for name, spec in specs.items():
      if name not in found:
        shape = [rows, *(_REGIONS if size is None else size for size in spec.shape[1:])]
        words = rng.choice([b"man", b"dog", b"zebra"], shape).astype(object)
        found[name] = words if spec.dtype == tf.string else rng.normal(size=shape)
    yield {name: found[name].astype(spec.dtype.as_numpy_dtype) for name, spec in specs.items()}


def rows_of(answer: Arrays) -> list[tuple]:
  """What must be equal of each picture: caption, indices, boxes."""
  found = []
  for row, caption in enumerate(answer["caption"]):
    count = int(answer["length"][row])
    index, box = answer["box_index"][row][:count], answer["box"][row][:count]
    found.append((bytes(caption).decode(), index.tolist(), box.tolist()))
  return found


def same(ours: tuple, theirs: tuple) -> bool:
  """Whether words and indices are equal, and boxes but for the last bits of a float."""
  if ours[:2] != theirs[:2]:
    return False
  return len(theirs) < 3 or np.allclose(ours[2], theirs[2], rtol=0, atol=_BOX_BITS)


def java_rows(model: pathlib.Path, signature: str, request: Arrays) -> list[tuple] | None:
  """The same of the Java program, without boxes; None if it is not installed."""
  if not java_is_installed():
    return None
  with tempfile.TemporaryDirectory() as folder:
    work = pathlib.Path(folder)
    if photograph_module.IMAGE_BYTES in request:
      given = [work / f"{row}.jpg" for row in range(len(request[photograph_module.IMAGE_BYTES]))]
      for path, data in zip(given, request[photograph_module.IMAGE_BYTES], strict=True):
        path.write_bytes(data)
    else:
      lines = "\n".join(_line(*item) for item in request.items())
      (work / "request.txt").write_text(lines + "\n")
      given = [f"--request={work / 'request.txt'}"]
    command = ["sh", str(_JAVA), str(model), f"--signature={signature}", *map(str, given)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
  if done.returncode:
    raise errors.UserError(f"the Java program ended with: {done.stderr[-500:]}")
  rows = map(json.loads, done.stdout.splitlines())
  return [(row["caption"], row["box_index"]) for row in rows]


def java_is_installed() -> bool:
  cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
  folder = os.environ.get("GCAP_TENSORFLOW_JAVA") or f"{cache}/gcap_tf/tensorflow_java"
  return pathlib.Path(folder, "classes").is_dir()


def _line(name: str, array: np.ndarray) -> str:
  """An input in the format of Caption.java."""
  kind = "string" if array.dtype == object else str(array.dtype)
  if kind == "string":
    text = ",".join(base64.b64encode(word).decode() for word in array.ravel())
  else:
    text = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
  return f"{name} {kind} {','.join(map(str, array.shape))} {text}"


class Runtimes:
  """One exported captioner in all runtimes."""

  def __init__(self, module: captioner_module.CaptionerModule, base: pathlib.Path, address: str):
    self.module, self.version = module, base / "1"
    self.loaded = tf.saved_model.load(str(self.version))
    self.client = client.Client(address)

  def compare(self, kind: str, number: int, request: Arrays) -> tuple[dict[str, int], list[str]]:
    """Counts of equal and different answers, and a line for each difference."""
    signature = _SIGNATURES[kind][number % 2]
    tensors = {name: tf.constant(array) for name, array in request.items()}
    answer = self.module.python_answer(signature, tensors)
    wanted = rows_of({name: np.asarray(value) for name, value in answer.items()})
    saved = self.loaded.signatures[signature](**tensors)
    found = {
      "SavedModel": rows_of({name: value.numpy() for name, value in saved.items()}),
      "server": rows_of(self.client.predict(request, signature)),
    }
    counts, different = {"Python": len(wanted)}, []
    java = java_rows(self.version, signature, request)
    if java is not None:
      found["Java"] = java
    for runtime, rows in found.items():
      for row, (ours, theirs) in enumerate(zip(wanted, rows, strict=True)):
        equal = same(ours, theirs)
        name = f"{runtime} equal" if equal else f"{runtime} DIFFERENT"
        counts[name] = counts.get(name, 0) + 1
        if not equal:
          different.append(f"{kind} {number}.{row} {signature} {runtime}: {theirs} not {ours}")
    return counts, different


def compare(
  run: run_folders.Run,
  files: Sequence[pathlib.Path],
  count: int,
  counts: counts_lib.Counts,
  block: int = _BLOCK,
) -> list[str]:
  """Compares `count` photographs and as many pictures of regions; returns the differences."""
  different = []
  config = saved_model.ExportConfig(
    version=1, max_length=captioner_evaluation.max_length(run), float16_weights=True
  )
  with tempfile.TemporaryDirectory() as folder:
    base = pathlib.Path(folder, NAME)
    saved_model.export(run, base, config)
    module = saved_model.make_module(run, config)
    with probes.server_of(base, NAME) as server:
      runtimes = Runtimes(module, base, server.address)
      firsts = {kind: counts.of(kind).get("Python", 0) for kind in _SIGNATURES}
      blocks = {
        "photographs": photograph_blocks(files, firsts["photographs"], count, block),
        "regions": region_blocks(module.specs("greedy"), firsts["regions"], count, block),
      }
      for kind, requests in blocks.items():
        for number, request in enumerate(requests, firsts[kind] // block):
          found, lines = runtimes.compare(kind, number, request)
          counts.add(kind, **found)
          different += lines
          for line in lines:
            print(line[:500], flush=True)
      runtimes.client.close()
  return different


def main(argv: list[str]) -> int:
  del argv
  found = list(pictures.find(flags.FLAGS.pictures).values()) if flags.FLAGS.pictures else []
  run = run_folders.load(flags.FLAGS.run, "captioner")
  with counts_lib.opened(flags.FLAGS.counts) as counts:
    different = compare(run, found, flags.FLAGS.count, counts, flags.FLAGS.block)
    print(json.dumps({"java": java_is_installed(), **counts.all()}))
  return int(bool(different))


if __name__ == "__main__":
  flags.DEFINE_string("run", "shipped", "Run folder of a captioner of photographs.")
  flags.DEFINE_string("pictures", "", "Folder of photographs; empty draws some.")
  flags.DEFINE_integer("count", 100, "Photographs, and pictures of regions.", 1)
  flags.DEFINE_integer("block", _BLOCK, "Pictures of one request, and of one start of Java.", 1)
  flags.DEFINE_string("counts", "", "File in which counts add up over runs; empty for none.")
  errors.run(main)
