"""Draws docs/grounded_captions.png: captions of the shipped captioner on drawn scenes.

python -m tools.readme_picture
"""

import dataclasses
import pathlib

from PIL import Image

from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.data.stores import simulated_detector
from gcap_tf.shipped import folders
from gcap_tf.visuals import draw
from serving import client, embedded, region_files, versions

OUT = pathlib.Path(__file__).parent.parent / "docs" / "grounded_captions.png"
SEED, SCENES = 11, (38, 19, 20)


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


def main() -> None:
  model = versions.ModelConfig("captioner", folders.model_folder())
  with embedded.Server(embedded.ServerConfig(models=(model,), rest_port=None)) as server:
    caller = client.Client(server.address)
    page = draw.sheet([picture(caller, index) for index in SCENES], len(SCENES), gap=6)
    caller.close()
  page.save(OUT, optimize=True)
  print(f"{OUT.name}: {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
  main()
