"""Writes requirements.hashes.lock: the pinned packages with the SHA-256 sum of each file.

    .venv/bin/python tools/hash_lock.py

Asks pip which files it would install for this Python and platform (it downloads them), and keeps
their sums. `pip install --require-hashes` then accepts these files only.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOCK, HASHES = ROOT / "requirements.lock", ROOT / "requirements.hashes.lock"
_HEAD = "# requirements.lock with the sums of the files for Python 3.11 on Linux x86_64.\n"


def lines(report: dict) -> list[str]:
  """A line `NAME==VERSION --hash=sha256:SUM` for every package of a report of pip."""
  found = []
  for entry in report["install"]:
    about, sums = entry["metadata"], entry["download_info"]["archive_info"]["hashes"]
    found.append(f"{about['name'].lower()}=={about['version']} --hash=sha256:{sums['sha256']}")
  return sorted(found)


def main() -> None:
  with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "report.json"
    subprocess.run(
      [
        *(sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps"),
        *("--quiet", "--disable-pip-version-check", f"--report={path}", "-r", str(LOCK)),
      ],
      check=True,
    )
    report = json.loads(path.read_text(encoding="utf-8"))
  HASHES.write_text(_HEAD + "\n".join(lines(report)) + "\n", encoding="utf-8")


if __name__ == "__main__":
  main()
