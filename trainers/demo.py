"""Shows grounded captions at once, without training; `make demo` runs it.

Serves the captioner of the package, sends it drawn scenes over gRPC (their boxes and labels, as
a detector would give them), and writes a page with the answers.
"""

import pathlib
import time

from absl import flags

from gcap_tf import commands, errors, files, printing

_OUT = flags.DEFINE_string("out", "demo", "Folder to write.")
_MODEL = flags.DEFINE_string(
  "model", None, "Base path of another exported captioner of labelled regions."
)
_PICTURES = flags.DEFINE_integer("pictures", 12, "Scenes to caption.", 1)

_PAGE = """
The captioner read boxes with a label each, as any detector gives them, and nothing else of the
picture. Every noun has the colour of the region that the captioner looked at when it wrote the
word. No caption it learned from was tied to boxes: it learned from captions alone which words
belong to which regions. It was trained on photographs of Flickr30k; these scenes are drawn.
"""
_NEXT = """
Done in {seconds:.0f} seconds. Where to look:
  {out}/index.html       the captions, each noun in the colour of its box
  {out}/attention.png    where every word of one caption looked
  {out}/detections.json  the input of the captioner
What to try next:
  {server}
    and open http://127.0.0.1:8501/ : hover a word, see its box; load detections of your own
  {caption} --labels={out}/detections.json --out=captions.json
    captions the output of any detector in COCO's format
  {demo_train}
    trains a matcher and two captioners on drawn scenes, in about 6 minutes
  {tensorboard} --runs=demo/train/runs
    then shows their curves, attention pictures and captions at http://127.0.0.1:6006/"""


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.shipped import folders as shipped_folders
  from serving import samples
  from trainers import demo_page

  started, out = time.monotonic(), pathlib.Path(_OUT.value)
  model = pathlib.Path(_MODEL.value) if _MODEL.value else shipped_folders.model_folder()
  scenes = printing.count(_PICTURES.value, "scene")
  print(f"Drawing {scenes}; starting the server and sending them to it over gRPC")
  pictures = list(samples.scene_records(_PICTURES.value))
  answers = demo_page.ask_server(model, pictures)
  header, table = ((), ()) if _MODEL.value else shipped_figures()
  demo_page.write(out, pictures, answers, _PAGE, header, table)
  samples.write(out / "samples", pictures)
  files.write_json(out / "detections.json", samples.coco_detections(pictures), indent=1)
  for answer in answers[:3]:
    print(f"  {answer.caption}")
  names = ("server", "caption", "demo_train", "tensorboard")
  programs = {name: commands.command(name) for name in names}
  print(_NEXT.format(seconds=time.monotonic() - started, out=out, **programs))


def shipped_figures() -> tuple[tuple[str, str], list[tuple[str, str]]]:
  """Header and rows of a table: scores of the shipped captioner on photographs."""
  from gcap_tf.runs import card_sections
  from gcap_tf.shipped import folders as shipped_folders

  figures = files.read_json(shipped_folders.RUN / card_sections.METRICS, "figures")
  config = files.read_json(shipped_folders.RUN / "config.json", "run configuration")
  data = " ".join(filter(None, (config.get("dataset"), config.get("evaluated"))))
  rows = [(name, f"{value:.1f}") for name, value in card_sections.headlines(figures)]
  return (f"Scores on {data}", ""), rows


if __name__ == "__main__":
  errors.run(main)
