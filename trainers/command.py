"""The console command `gcap`: every program by name, `gcap train_captioner --data=...`."""

import ast
import difflib
import importlib.util
import pathlib
import runpy
import sys

import gcap_tf

COMMANDS = {
  "prepare_data": "trainers.prepare_data",
  "extract_regions": "trainers.extract_regions",
  "train_matcher": "trainers.train_matcher",
  "train_captioner": "trainers.train_captioner",
  "finetune_scst": "trainers.finetune_scst",
  "finetune_contrastive": "trainers.finetune_contrastive",
  "evaluate_matcher": "trainers.evaluate_matcher",
  "evaluate_captioner": "trainers.evaluate_captioner",
  "calibrate": "trainers.calibrate",
  "caption": "trainers.caption",
  "score_grounding": "trainers.score_grounding",
  "import_checkpoint": "trainers.import_checkpoint",
  "reproduce": "trainers.reproduce",
  "results": "trainers.results",
  "human_study": "trainers.human_study",
  "export_model": "export.export_model",
  "pack_run": "export.pack_run",
  "server": "serving.server",
  "client": "serving.client",
  "tensorboard": "trainers.tensorboard",
  "demo": "trainers.demo",
  "demo_train": "trainers.demo_train",
  "fetch_spice": "gcap_tf.metrics.fetch_spice",
  "train_tagger": "trainers.train_tagger",
}


def summary(module: str) -> str:
  """The first line of a program's docstring, read without importing it."""
  source = pathlib.Path(importlib.util.find_spec(module).origin).read_text(encoding="utf-8")
  return ast.get_docstring(ast.parse(source)).partition("\n")[0]


def main() -> None:
  chosen = sys.argv[1] if len(sys.argv) > 1 else "--help"
  if chosen in ("--help", "-h", "help"):
    print("usage: gcap COMMAND --flags   (gcap COMMAND --help explains the flags)\n")
    for name, module in COMMANDS.items():
      print(f"  {name:20} {summary(module)}")
    return
  if chosen == "--version":
    print(gcap_tf.__version__)
    return
  if chosen not in COMMANDS:
    near = difflib.get_close_matches(chosen, COMMANDS, n=1)
    hint = f' (did you mean "{near[0]}"?)' if near else ""
    print(f'error: unknown command "{chosen}"; known: {", ".join(COMMANDS)}{hint}', file=sys.stderr)
    sys.exit(1)
  sys.argv[:2] = [f"gcap {chosen}"]
  runpy.run_module(COMMANDS[chosen], run_name="__main__", alter_sys=True)
