import dataclasses
import json
import pathlib

import pytest

from gcap_tf import errors
from gcap_tf.data.stores import extracted_store
from gcap_tf.runs import region_recipes
from tests.export import tiny_runs

RECORD = {
  "name": "pictures",
  "detector": "runs/eyes",
  "regions": 20,
  "min_score": 0.1,
  "columns": {"labels": [0, 2]},
  "labels": ["man", "dog"],
  "colours": ["red"],
  "fingerprint": "abc",
}


def test_a_run_says_how_its_regions_are_made():
  found = region_recipes.read({"regions": RECORD})
  assert (found.detector, found.regions, found.min_score) == ("runs/eyes", 20, 0.1)
  assert found.labels == ("man", "dog") and found.fingerprint == "abc"
  assert region_recipes.read({"regions": found.to_dict()}) == found


def test_a_cross_fitted_run_names_the_detector_of_new_pictures():
  found = region_recipes.read({"regions": {**RECORD, "detector": "runs/eyes,f0,f1"}})
  assert found.detector == "runs/eyes" and found.fingerprint == ""


def test_regions_that_no_detector_makes_have_no_recipe():
  assert region_recipes.read({}) is None
  assert region_recipes.read({"regions": {"name": "perfect", "max_regions": 0}}) is None


def test_an_older_run_is_helped_by_its_data_and_that_by_its_store(tmp_path):
  (tmp_path / "dataset.json").write_text(json.dumps({"detector": RECORD}))
  assert region_recipes.read({"data": str(tmp_path)}).regions == 20
  assert region_recipes.read({"data": str(tmp_path / "gone")}) is None
  values = {key: RECORD[key] for key in ("detector", "regions", "min_score", "fingerprint")}
  words = {key: RECORD[key] for key in ("columns", "labels", "colours")}
  info = extracted_store.StoreInfo(
    **values, **words, feature_size=2, global_size=1, grid_size=1, grid_cells=1
  )
  extracted_store.write_info(tmp_path / "store", info)
  record = {"name": "store", "path": str(tmp_path / "store"), "max_regions": 7}
  (tmp_path / "dataset.json").write_text(json.dumps({"detector": record}))
  assert region_recipes.read({"data": str(tmp_path)}).regions == 7


def test_a_captioner_of_labels_takes_the_shipped_detector_and_few_boxes():
  run = tiny_runs.captioner_run(pathlib.Path("x"), feature_size=0, labelled=True)
  found = region_recipes.of_run(run)
  assert found.detector == "shipped" and found.regions < 36 and found.min_score > 0


def test_a_captioner_of_unknown_features_is_refused():
  with pytest.raises(errors.UserError, match=r"regions of 5 features.*--regions=DIR"):
    region_recipes.of_run(tiny_runs.captioner_run(pathlib.Path("x")))


@dataclasses.dataclass(frozen=True)
class Detector:
  labels: tuple[str, ...] = ("man", "dog")
  colours: tuple[str, ...] = ("red",)
  folder: str = "eyes"


def test_another_detector_must_make_the_same_regions():
  recipe = region_recipes.read({"regions": RECORD})
  region_recipes.check(recipe, Detector(), {"labels": (0, 2)}, "run")
  region_recipes.check(region_recipes.RegionRecipe(), Detector(("cat",)), {"labels": (0, 1)}, "run")
  with pytest.raises(errors.UserError, match=r"other words.*--detector=RUN"):
    region_recipes.check(recipe, Detector(("cat", "dog")), {"labels": (0, 2)}, "run")
  with pytest.raises(errors.UserError, match="features of another make"):
    region_recipes.check(recipe, Detector(), {"labels": (0, 3)}, "run")
