r"""Gives damaged pictures to `trainers.extract_regions` and counts what becomes of each.

    python -m benchmarks.damaged_pictures --count=200

Files are cut, have flipped bytes, have another kind's ending, are no pictures, or claim to be huge
(bombs). A picture must be named with its problem or decoded: a flipped byte often leaves a picture
that every program shows. The last line is one JSON object; `crashed` counts files that were neither
named nor decoded, and exits with 1 unless it is 0.
"""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from absl import flags

from benchmarks.reliability import damaged_files
from gcap_tf import errors

_COUNT = flags.DEFINE_integer("count", 200, "Damaged pictures.", 1)
_SEED = flags.DEFINE_integer("seed", 1, "Seed of the damage.")
_DETECTOR = flags.DEFINE_string("detector", "shipped", "Detector that reads the pictures.")


def extract(pictures: pathlib.Path, store: pathlib.Path) -> tuple[int, str]:
  """The exit code of `trainers.extract_regions` and what it printed."""
  command = [sys.executable, "-m", "trainers.extract_regions", f"--pictures={pictures}"]
  command += [f"--out={store}", f"--detector={_DETECTOR.value}"]
  done = subprocess.run(command, capture_output=True, text=True, check=False)
  return done.returncode, done.stdout + done.stderr


def outcomes(
  written: dict[str, str], store: pathlib.Path, printed: str
) -> Iterator[tuple[str, str]]:
  """(name, "named", "decoded" or "crashed") of every file."""
  for name in written:
    stored = (store / "att" / f"{pathlib.Path(name).stem}.npz").is_file()
    yield name, "named" if name in printed else "decoded" if stored else "crashed"


def main(argv: list[str]) -> int:
  del argv
  with tempfile.TemporaryDirectory() as folder:
    pictures, store = pathlib.Path(folder, "pictures"), pathlib.Path(folder, "store")
    pictures.mkdir()
    written = damaged_files.damaged(pictures, _COUNT.value, _SEED.value)
    code, printed = extract(pictures, store)
    found = dict(outcomes(written, store, printed))
  print("| damage | named | decoded | crashed |\n|---|---|---|---|")
  for damage in dict.fromkeys(written.values()):
    rows = [found[name] for name, kind in written.items() if kind == damage]
    counts = [rows.count(outcome) for outcome in ("named", "decoded", "crashed")]
    print("|", " | ".join([damage, *map(str, counts)]), "|")
  totals = {outcome: list(found.values()).count(outcome) for outcome in ("named", "decoded")}
  crashed = len(found) - sum(totals.values())
  tracebacks = printed.count("Traceback")
  peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
  print(
    json.dumps(
      {**totals, "crashed": crashed, "tracebacks": tracebacks, "exit": code, "peak_mb": round(peak)}
    )
  )
  return int(bool(crashed or tracebacks or code not in (0, 1)))


if __name__ == "__main__":
  errors.run(main)
