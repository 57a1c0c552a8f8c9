"""Draws the pictures of the README with the shipped captioners.

    python -m tools.readme_picture

docs/photographs.png: captions of the free photographs of scikit-image
docs/grounded_captions.png: captions of drawn scenes, of their boxes and labels
"""

import dataclasses
import pathlib

from PIL import Image

import gcap_tf
from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.data.stores import simulated_detector
from gcap_tf.shipped import folders
from gcap_tf.visuals import draw
from serving import client, embedded, free_photographs, region_files, versions

DOCS = pathlib.Path(__file__).parent.parent / "docs"
SIDE = (480, 360)  # the most pixels of a photograph, so that the sheet stays small
SEED, SCENES = 11, (38, 19, 20)


def photographs() -> Image.Image:
  """Returns the free photographs with their captions and the boxes of their nouns."""
  captioner, drawn = gcap_tf.load(), []
  for path in free_photographs.find().values():
    answer = captioner.caption(path)
    small = Image.open(path).convert("RGB")
    small.thumbnail(SIDE)
    words = answer.words
    drawn.append(
      draw.grounded_caption(
        small,
        [word.text for word in words] or ["(no answer)"],
        [word.box or (0, 0, 0, 0) for word in words],
        [word.box is not None for word in words],
      )
    )
  return draw.sheet(drawn, 3, gap=6)


def picture(caller: client.Client, index: int) -> Image.Image:
  """Returns scene `index` with its caption and the boxes of its nouns."""
  config = drawn_scenes.SceneConfig(train=0, val=0, test=60, seed=SEED)
  record = drawn_scenes.record(config, index)
  detected = simulated_detector.perfect(dataclasses.replace(record, captions=()))
  regions = region_files.from_record(dataclasses.replace(record, regions=detected))
  (answer,) = caller.caption(None, [regions.boxes], [regions.labels], "beam")
  return draw.grounded_caption(
    regions.picture, answer.words, answer.boxes, answer.grounded.tolist()
  )


def scenes() -> Image.Image:
  """Returns drawn scenes with captions of the captioner of labels."""
  model = versions.ModelConfig("captioner", folders.model_folder())
  with embedded.Server(embedded.ServerConfig(models=(model,), rest_port=None)) as server:
    caller = client.Client(server.address)
    drawn = [picture(caller, index) for index in SCENES]
    caller.close()
  return draw.sheet(drawn, len(SCENES), gap=6)


def main() -> None:
  for name, sheet in (("photographs", photographs()), ("grounded_captions", scenes())):
    path = DOCS / f"{name}.png"
    sheet.quantize(256).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
  main()
