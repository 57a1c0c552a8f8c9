"""Trains a grounded captioner from nothing; `make demo-train` runs it.

Draws scenes, trains a POS-SCAN teacher and two Up-Down students (one of them with the
teacher's attention distilled into it), compares where their words point, exports the
better one, serves it and sends it scenes over gRPC. It continues where it was stopped.
"""

import pathlib
import time

from absl import flags

from gcap_tf import commands, errors

_OUT = flags.DEFINE_string("out", "demo/train", "Folder to write.")
_QUICK = flags.DEFINE_bool(
  "quick", False, "Runs every step in about a minute; the models learn nothing."
)
_PICTURES = flags.DEFINE_integer("pictures", 12, "Scenes to caption.", 1)

_FIGURES = (
  ("F1_loc: named things that are found, %", "f1_loc"),
  ("F1_all: things both named and found, %", "f1_all"),
  ("attention accuracy on given captions, %", "attention_accuracy"),
  ("partly found, % of words", "error_partial"),
  ("CIDEr", "cider"),
)

_PAGE = """
Every noun has the colour of the region that the captioner looked at when it wrote the word. No
annotated box taught it this: a matcher that learned from pictures and captions did. The scores
are over all test scenes; some of them are below.
"""
_NEXT = """
Done in {seconds:.0f} seconds. Where to look:
  {out}/index.html     the captions, each noun in the colour of its box
  {out}/attention.png  where every word of one caption looked
What to try next:
  {server} --model_base_path={out}/model --samples={out}/samples
    and open http://127.0.0.1:8501/ : hover a word, see its box
  {evaluate_captioner} --run={out}/runs/grounded --data={out}/data
  {train_captioner} --help      your own data, other models
  {tensorboard} --runs={out}/runs
    and open http://127.0.0.1:6006/ : curves, attention pictures, captions"""


def main(argv: list[str]) -> None:
  del argv
  from trainers import demo_page, demo_steps

  started, out = time.monotonic(), pathlib.Path(_OUT.value)
  config = demo_steps.QUICK if _QUICK.value else demo_steps.DemoConfig()
  results = demo_steps.run(out, config, lambda text: print(f"\n== {text}", flush=True))
  table = [
    (name, f"{results.plain[key]:.1f}", f"{results.grounded[key]:.1f}") for name, key in _FIGURES
  ]
  print(f"\n{'on the test scenes':42}{'Up-Down':>10}{'+ POS-SCAN':>12}")
  for name, before, after in table:
    print(f"{name:42}{before:>10}{after:>12}")

  print("\n== Starting the server and sending scenes to it over gRPC")
  split = results.data.split("test")
  pictures = [split.record(n) for n in range(min(_PICTURES.value, len(split)))]
  answers = demo_page.ask_server(results.model, pictures)
  demo_page.write(out, pictures, answers, _PAGE, ("", "Up-Down", "+ POS-SCAN"), table)
  demo_page.write_samples(out / "samples", results.data)
  for answer in answers[:3]:
    print(f"  {answer.caption}")
  names = ("server", "evaluate_captioner", "train_captioner", "tensorboard")
  programs = {name: commands.command(name) for name in names}
  print(_NEXT.format(seconds=time.monotonic() - started, out=out, **programs))


if __name__ == "__main__":
  errors.run(main)
