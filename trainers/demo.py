"""Grounded captions at once, nothing to train: what `make demo` runs.

Serves the captioner that comes with the package, asks it over gRPC about drawn scenes (their
boxes and labels, as a detector would give them), and writes a page with the answers.
"""

import pathlib
import time

from absl import flags

from gcap_tf import errors, files
from gcap_tf.runs import card_sections
from gcap_tf.shipped import folders as shipped_folders
from serving import samples
from trainers import demo_page

_OUT = flags.DEFINE_string("out", "demo", "Folder for everything the demo makes.")
_MODEL = flags.DEFINE_string(
  "model", None, "Base path of another exported captioner of labelled regions."
)
_PICTURES = flags.DEFINE_integer("pictures", 12, "Scenes that the server is asked about.", 1)

_PAGE = """
The captioner was given boxes with a label each, as any detector gives them, and nothing else of
the picture. Every noun is written in the colour of the region that it looked at when it said the
word. No box was ever pointed out to it: it learned from captions which words belong to which
regions. It knows photographs of Flickr30k; these scenes are drawn.
"""
_NEXT = """
Done in {seconds:.0f} seconds. Where to look:
  {out}/index.html       the captions, each noun in the colour of its box
  {out}/attention.png    where every word of one caption looked
  {out}/detections.json  what the captioner was given
What to try next:
  .venv/bin/python -m serving.server
    and open http://127.0.0.1:8501/ : hover a word, see its box; load detections of your own
  .venv/bin/python -m trainers.caption --labels={out}/detections.json --out=captions.json
    captions what any detector wrote in COCO's format
  make demo-train      trains a matcher and two captioners on drawn scenes, in about 6 minutes
  .venv/bin/python -m trainers.tensorboard --runs=demo/train/runs
    then shows their curves, attention pictures and captions at http://127.0.0.1:6006/"""


def main(argv: list[str]) -> None:
  del argv
  started, out = time.monotonic(), pathlib.Path(_OUT.value)
  model = pathlib.Path(_MODEL.value) if _MODEL.value else shipped_folders.model_folder()
  print(f"Drawing {_PICTURES.value} scenes; starting the server and asking it over gRPC")
  pictures = list(samples.scene_records(_PICTURES.value))
  answers = demo_page.ask_server(model, pictures)
  header, table = ((), ()) if _MODEL.value else shipped_figures()
  demo_page.write(out, pictures, answers, _PAGE, header, table)
  samples.write(out / "samples", pictures)
  files.write_json(out / "detections.json", samples.coco_detections(pictures), indent=1)
  for answer in answers[:3]:
    print(f"  {answer.caption}")
  print(_NEXT.format(seconds=time.monotonic() - started, out=out))


def shipped_figures() -> tuple[tuple[str, str], list[tuple[str, str]]]:
  """Header and rows of what the shipped captioner scored on photographs."""
  figures = files.read_json(shipped_folders.RUN / card_sections.METRICS, "figures")
  config = files.read_json(shipped_folders.RUN / "config.json", "run configuration")
  told = " ".join(filter(None, (config.get("dataset"), config.get("evaluated"))))
  rows = [(name, f"{value:.1f}") for name, value in card_sections.headlines(figures)]
  return (f"What it scores on {told}", ""), rows


if __name__ == "__main__":
  errors.run(main)
