# bazel: data = ["//export:export_model"]

from gcap_tf.runs import run_folders
from serving import servables
from tests.export import tiny_runs
from tests.trainers import command_line


def export(*flags):
  return command_line.run("export.export_model", *flags)


def test_command_writes_a_version_that_answers(tmp_path):
  run = tiny_runs.captioner_run(tmp_path)
  run_folders.save(tmp_path / "run", "captioner", "updown", run.model, run.vocabulary)
  (tmp_path / "words.txt").write_text("man\nhorse\n")
  done = export(
    f"--run={tmp_path}/run",
    f"--out={tmp_path}/models",
    "--max_length=4",
    f"--object_words={tmp_path}/words.txt",
  )
  assert done.returncode == 0, done.stderr
  folder = tmp_path / "models" / "1"
  assert done.stdout.splitlines()[-1] == str(folder)
  servable = servables.Servable(folder)
  assert servable.run_warmup_requests() > 0
  servable.close()


def test_folder_that_is_no_run_ends_in_one_line(tmp_path):
  done = export(f"--run={tmp_path}", f"--out={tmp_path}/models")
  assert done.returncode == 1
  assert "is not a run folder" in done.stderr.splitlines()[-1]
