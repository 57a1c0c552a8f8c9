"""Fetches the Java libraries of SPICE, once, 390 MB.

    python -m gcap_tf.metrics.fetch_spice     (or: gcap fetch_spice)

They go to $GCAP_SPICE, else to the user's cache folder, through `mvn` if it is
installed (its settings name the repository), else over HTTPS from Maven Central or
--repository. Each file is checked against its known SHA-256.
"""

import pathlib
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

from absl import flags

from gcap_tf import errors, files
from gcap_tf.metrics.java_scorers import spice_jars

_REPOSITORY = flags.DEFINE_string(
  "repository",
  "https://repo.maven.apache.org/maven2",
  "Maven repository to download from if mvn is not installed.",
)


def fetch(where: pathlib.Path, repository: str) -> list[str]:
  """Fetches the missing files into `where`; returns their names."""
  fetched = []
  for jar in spice_jars.missing(where):
    print(f"Fetching {jar.coordinates}", flush=True)
    where.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=where) as scratch:
      arrived = pathlib.Path(scratch) / jar.file_name
      if shutil.which("mvn"):
        _by_maven(jar, arrived)
      else:
        _by_https(jar, arrived, repository)
      found = files.sha256(arrived)
      if found != jar.sha256:
        raise errors.UserError(
          f"{jar.coordinates} arrived with SHA-256 {found}, expected {jar.sha256}; not kept"
        )
      arrived.rename(where / jar.file_name)
    fetched.append(jar.file_name)
  return fetched


def _by_maven(jar: spice_jars.Jar, target: pathlib.Path) -> None:
  command = [
    *("mvn", "--batch-mode", "--quiet", "dependency:copy"),
    f"-Dartifact={jar.coordinates}",
    f"-DoutputDirectory={target.parent}",
  ]
  done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=target.parent)
  if done.returncode or not target.is_file():
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
    reason = lines[0] if lines else f"exit code {done.returncode}"
    raise errors.UserError(f"mvn could not fetch {jar.coordinates}: {reason[:300]}")


def _by_https(jar: spice_jars.Jar, target: pathlib.Path, repository: str) -> None:
  address = f"{repository.rstrip('/')}/{jar.path}"
  try:
    with urllib.request.urlopen(address, timeout=60) as answer, open(target, "wb") as file:
      shutil.copyfileobj(answer, file, 1 << 20)
  except (urllib.error.URLError, OSError, ValueError) as error:
    raise errors.UserError(
      f"could not download {address} ({error}); install mvn, or give --repository, or put the "
      f"file into {spice_jars.folder()} yourself"
    ) from None


def main(argv: list[str]) -> None:
  del argv
  where = spice_jars.folder()
  fetched = fetch(where, _REPOSITORY.value)
  print(f"{where}: {len(spice_jars.JARS)} libraries, {len(fetched)} of them new")


if __name__ == "__main__":
  errors.run(main)
