"""The import command as a user runs it."""

import json

from tests.interop import checkpoint_files
from tests.trainers import command_line


def run(family, paths, folder):
  flags = [f"--{name}={path}" for name, path in paths.items()]
  given = (f"--family={family}", f"--out={folder / 'run'}", *flags)
  return command_line.run("trainers.import_checkpoint", *given)


def test_a_checkpoint_becomes_a_run_folder(tmp_path):
  paths, _, _ = checkpoint_files.write(tmp_path, "bfan")
  done = run("bfan", paths, tmp_path)
  assert done.returncode == 0, done.stderr
  assert "bfan with" in done.stdout
  config = json.loads((tmp_path / "run" / "config.json").read_text())
  assert (config["kind"], config["model"]) == ("matcher", "bfan")


def test_weights_of_another_family_end_in_one_line(tmp_path):
  paths, _, _ = checkpoint_files.write(tmp_path, "scan")
  done = run("sgraf", paths, tmp_path)
  assert done.returncode == 1
  lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
  assert len(lines) == 1
  assert "weights lack" in lines[0]
  assert "Traceback" not in done.stderr
  assert not (tmp_path / "run").exists()
