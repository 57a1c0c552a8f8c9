"""What figures of a paper are printed for: a dataset, its split, and a kind of regions."""

import dataclasses
from typing import Literal

Kind = Literal["detector", "gvd", "biased", "perfect", "other"]


@dataclasses.dataclass(frozen=True)
class Setting:
  """What figures are printed for, or measured on.

  Attributes:
    data: name of the dataset.
    split: its split.
    regions: "detector" (trained on Visual Genome), "gvd" (the regions that GVD released),
      "biased" (a detector trained on the dataset's own boxes), "perfect" (the annotated boxes),
      or "other", for which no paper prints figures.
    pictures: of the split.
  """

  data: str = "flickr30k_entities"
  split: str = "test"
  regions: Kind = "detector"
  pictures: int = 1_000

  def __str__(self) -> str:
    regions = {"detector": "", "gvd": ", GVD's regions", "biased": ", detector of its own boxes"}
    return f"{self.data} {self.split}{regions.get(self.regions, f', {self.regions} regions')}"


F30K_TEST = Setting()
F30K_VAL = Setting(split="val")
F30K_GVD = Setting(regions="gvd")
F30K_BIASED = Setting(regions="biased")
F30K_PERFECT = Setting(regions="perfect")
COCO_TEST = Setting(data="coco", pictures=5_000)
COCO_VAL = Setting(data="coco", split="val", pictures=2_000)
INSTAPIC_TEST = Setting(data="instapic", pictures=5_000)
# Segments. Those of test are counted in its file. Those of val are derived: ActivityNet Captions'
# val_1 is said to have 17,505, and ActivityNet-Entities cuts it into val and test.
ANET_VAL = Setting(data="activitynet_entities", split="val", pictures=8_774)
ANET_TEST = Setting(data="activitynet_entities", pictures=8_731)

_KINDS: dict[str, Kind] = {"perfect": "perfect", "store": "detector", "source": "detector"}


def setting_of(data: str, split: str, pictures: int, regions: str, detector: str = "") -> Setting:
  """The setting of prepared data.

  Args:
    data, split, pictures: the dataset, the evaluated split and its size.
    regions: name of the source of its regions in dataset.json.
    detector: of regions of photographs: "shipped" or a run is trained on the dataset's boxes.
  """
  kind = _KINDS.get(regions, "other")
  if regions == "pictures":
    kind = "detector" if ":" in detector else "biased"
  return Setting(data, split, kind, pictures)
