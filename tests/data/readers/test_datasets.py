import pytest

from gcap_tf import errors
from gcap_tf.data.readers import datasets
from gcap_tf.data.scenes import drawn_scenes
from tests.data import make_sources


def test_scenes_read_like_any_other_dataset():
  config = drawn_scenes.SceneConfig(train=3, val=0, test=2)
  reader = datasets.DATASETS.get("scenes").open("", None, config)
  assert reader.splits == ("train", "test")
  read = [reader.record(key, "test") for key in reader.image_ids("test")]
  assert [record.split for record in read] == ["test", "test"]
  assert read[0].image_id == drawn_scenes.record(config, 3).image_id
  assert "dog" in reader.classes.names


@pytest.mark.parametrize("name", ["karpathy", "scan_precomp"])
def test_datasets_on_disk_open_by_name(name, tmp_path):
  make_sources.write_karpathy(tmp_path, {"train": 2, "val": 1})
  make_sources.write_precomp(tmp_path)
  reader = datasets.DATASETS.get(name).open(str(tmp_path), None, drawn_scenes.SceneConfig())
  assert reader.splits == ("train", "val")
  key = reader.image_ids("val")[0]
  assert reader.record(key, "val").captions[0].tokens[:3] == ("a", "dog", "sees")


def test_a_split_that_is_not_there_lists_those_that_are():
  reader = datasets.SceneReader(drawn_scenes.SceneConfig(train=3, val=1, test=0))
  assert datasets.choose_splits(reader, []) == ("train", "val")
  assert datasets.choose_splits(reader, ["val"]) == ("val",)
  with pytest.raises(errors.UserError, match='no split "dev"; it has train, val'):
    datasets.choose_splits(reader, ["dev"])


def test_the_names_are_those_of_the_command_line():
  assert datasets.DATASETS.names() == [
    "activitynet_entities",
    "coco",
    "flickr30k_entities",
    "instapic",
    "karpathy",
    "scan_precomp",
    "scenes",
  ]
