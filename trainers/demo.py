"""Shows grounded captions at once, without training; `make demo` runs it.

Captions photographs (those of scikit-image, and some of GCAP_DATA) with the captioner of the
package, and writes a page with the answers. `--model` names an exported captioner instead, which
is served and asked over gRPC. One that reads labelled boxes instead of photographs gets drawn
scenes, with their boxes and labels.
"""

import pathlib
import sys
import time
import webbrowser

from absl import flags

from gcap_tf import commands, errors, files, printing

_OUT = flags.DEFINE_string("out", "demo", "Folder to write.")
_MODEL = flags.DEFINE_string("model", None, "Base path of another exported captioner.")
_PICTURES = flags.DEFINE_integer("pictures", 12, "Most pictures to caption.", 1)
_OPEN = flags.DEFINE_bool("open", True, "Opens the page in a browser, if a person runs the demo.")

_PHOTOGRAPHS = """
The captioner got the bytes of each photograph and nothing else. It found the regions, wrote the
sentence, and every noun has the colour of the region that it looked at. Point at a word to see
where it looked; a dotted word is one whose place it is not sure of.
"""
_PHOTOGRAPHS_NEXT = """
Done in {seconds:.0f} seconds. Where to look:
  {out}/index.html     the photographs: point at a word, see where the model looked
  {out}/captions.json  the same for programs
What to try next:
  {caption} --pictures=YOUR_PHOTO.jpg --draw=drawn
    captions your own photographs
  {server} --samples={out}/samples
    and open http://127.0.0.1:8501/ : drop a photograph, paste it, or use the camera
  {demo_train}
    trains a matcher and two captioners on drawn scenes, in about 6 minutes"""

_SCENES = """
The captioner read boxes with a label each, as any detector gives them, and nothing else of the
picture. Every noun has the colour of the region that the captioner looked at when it wrote the
word. No caption it learned from was tied to boxes: it learned from captions alone which words
belong to which regions. It was trained on photographs of Flickr30k; these scenes are drawn.
"""
_SCENES_NEXT = """
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
  from serving import servables
  from trainers.gallery import photographs

  started, out = time.monotonic(), pathlib.Path(_OUT.value)
  model = pathlib.Path(_MODEL.value) if _MODEL.value else None
  found = {}
  if model is None or servables.captions_photographs(model):
    found = photographs.find(_PICTURES.value)
    if not found:
      from serving import free_photographs

      print(f"There are no photographs: {free_photographs.HOW_TO_GET}. Drawn scenes instead:")
  if found:
    text = show_photographs(model, found, out)
  else:
    text = show_scenes(model or shipped_folders.model_folder(), out)
  names = ("server", "caption", "demo_train", "tensorboard")
  programs = {name: commands.command(name) for name in names}
  print(text.format(seconds=time.monotonic() - started, out=out, **programs))
  if _OPEN.value and sys.stdout.isatty():
    webbrowser.open((out / "index.html").resolve().as_uri())


def show_photographs(
  model: pathlib.Path | None, found: dict[str, pathlib.Path], out: pathlib.Path
) -> str:
  """Captions photographs (title -> file) and writes the page; returns what to say at the end."""
  import gcap_tf
  from serving import samples
  from trainers.gallery import pages, photographs

  found = dict(list(found.items())[: _PICTURES.value])
  count = printing.count(len(found), "photograph")
  if model is None:
    print(f"Captioning {count}")
    answers = photographs.ask(gcap_tf.load(), found)
  else:
    print(f"Starting the server and sending it {count} over gRPC")
    answers = photographs.ask_server(model, found)
  following = [
    (f"{commands.command('caption')} --pictures=YOUR_PHOTO.jpg --draw=drawn", "your own photos"),
    (
      f"{commands.command('server')} --samples={out}/samples",
      "then http://127.0.0.1:8501/ : drop a photograph, paste it, or use the camera",
    ),
    (commands.command("demo_train"), "trains a grounded captioner from nothing, in minutes"),
  ]
  pages.write(out, found, answers, _PHOTOGRAPHS, following)
  samples.write_photographs(out / "samples", found)
  rows = [
    {"title": title, "file": str(path), **answer.to_json()}
    for (title, path), answer in zip(found.items(), answers, strict=True)
  ]
  files.write_json(out / "captions.json", rows)
  for title, answer in zip(found, answers, strict=True):
    print(f"  {title}: {answer.caption or answer.error or '(no caption)'}")
  return _PHOTOGRAPHS_NEXT


def show_scenes(model: pathlib.Path, out: pathlib.Path) -> str:
  """Captions drawn scenes by their boxes and labels; returns what to say at the end."""
  from serving import samples
  from trainers import demo_page

  scenes = printing.count(_PICTURES.value, "scene")
  print(f"Drawing {scenes}; starting the server and sending them to it over gRPC")
  pictures = list(samples.scene_records(_PICTURES.value))
  answers = demo_page.ask_server(model, pictures)
  header, table = ((), ()) if _MODEL.value else shipped_figures()
  demo_page.write(out, pictures, answers, _SCENES, header, table)
  samples.write(out / "samples", pictures)
  files.write_json(out / "detections.json", samples.coco_detections(pictures), indent=1)
  for answer in answers[:3]:
    print(f"  {answer.caption}")
  return _SCENES_NEXT


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
