from gcap_tf.runs import run_folders
from tests.export import tiny_runs
from tests.trainers import command_line


def test_the_command_packs_and_refuses_in_one_line(tmp_path):
  tiny_runs.trained_run(tmp_path / "run")
  (tmp_path / "figures").write_text('table\n{"cider": 3.5}\n')
  flags = (f"--run={tmp_path / 'run'}", f"--out={tmp_path / 'out'}")
  commands = [
    ("export.pack_run", *flags, f"--metrics={tmp_path / 'figures'}", "--evaluated=val"),
    ("export.pack_run", *flags, f"--metrics={tmp_path / 'nothing'}"),
    ("export.pack_run", f"--run={tmp_path / 'nothing'}", f"--out={tmp_path / 'out'}"),
  ]
  packed, no_figures, no_run = command_line.run_many(commands)
  assert packed.returncode == 0, packed.stderr[-2000:]
  assert packed.stdout.startswith(f"{tmp_path / 'out'}: 0.0 MB")
  assert "| CIDEr | 3.50 |" in (tmp_path / "out" / "MODEL_CARD.md").read_text()
  assert run_folders.load(tmp_path / "out").kind == "captioner"
  assert "nothing: the file does not exist" in command_line.error(no_figures)
  assert "has no config.json" in command_line.error(no_run)
