"""From nothing to a trained grounded captioner: what `make demo-train` runs.

Draws scenes, trains a POS-SCAN teacher and two Up-Down students (one of them with the
teacher's attention distilled into it), compares where their words point, exports the
better one, serves it and asks the server over gRPC. Run again, it starts where it stopped.
"""

import pathlib
import time

from absl import flags

from gcap_tf import errors
from trainers import demo_page, demo_steps

_OUT = flags.DEFINE_string("out", "demo/train", "Folder for everything the demo makes.")
_QUICK = flags.DEFINE_bool(
  "quick", False, "A minute's walk through every station, learning nothing."
)
_PICTURES = flags.DEFINE_integer("pictures", 12, "Scenes that the server is asked about.", 1)

_FIGURES = (
  ("F1_loc: named things that are found, %", "f1_loc", 100),
  ("F1_all: things both named and found, %", "f1_all", 100),
  ("attention accuracy on given captions, %", "attention_accuracy", 100),
  ("partly found, % of words", "error_partial", 100),
  ("CIDEr", "cider", 1),
)

_PAGE = """
Every noun is written in the colour of the region that the captioner looked at when it said the
word. No box was ever shown to it: a matcher that only saw pictures with captions taught it. The
figures are over all test scenes, of which some are below.
"""


def main(argv: list[str]) -> None:
  del argv
  started, out = time.monotonic(), pathlib.Path(_OUT.value)
  config = demo_steps.QUICK if _QUICK.value else demo_steps.DemoConfig()
  results = demo_steps.run(out, config, lambda text: print(f"\n== {text}", flush=True))
  table = [
    (name, f"{scale * results.plain[key]:.1f}", f"{scale * results.grounded[key]:.1f}")
    for name, key, scale in _FIGURES
  ]
  print(f"\n{'on the test scenes':42}{'Up-Down':>10}{'+ POS-SCAN':>12}")
  for name, before, after in table:
    print(f"{name:42}{before:>10}{after:>12}")

  print("\n== Starting the server and asking it over gRPC")
  split = results.data.split("test")
  pictures = [split.record(n) for n in range(min(_PICTURES.value, len(split)))]
  answers = demo_page.ask_server(results.model, pictures)
  demo_page.write(out, pictures, answers, _PAGE, ("", "Up-Down", "+ POS-SCAN"), table)
  demo_page.write_samples(out / "samples", results.data)
  for answer in answers[:3]:
    print(f"  {answer.caption}")
  print(f"""
Done in {time.monotonic() - started:.0f} seconds. Where to look:
  {out}/index.html     the captions, each noun in the colour of its box
  {out}/attention.png  where every word of one caption looked
What to try next:
  .venv/bin/python -m serving.server --model_base_path={out}/model --samples={out}/samples
    and open http://127.0.0.1:8501/ : hover a word, see its box
  .venv/bin/python -m trainers.evaluate_captioner --run={out}/runs/grounded --data={out}/data
  .venv/bin/python -m trainers.train_captioner --help      your own data, other models
  .venv/bin/python -m trainers.tensorboard --runs={out}/runs
    and open http://127.0.0.1:6006/ : curves, attention pictures, captions""")


if __name__ == "__main__":
  errors.run(main)
