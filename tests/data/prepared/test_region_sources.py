import base64
import dataclasses

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data.prepared import region_sources
from gcap_tf.data.stores import simulated_detector
from tests.data import make_records, make_sources, make_videos

NOISY = simulated_detector.NoisyConfig(regions=5, feature_size=6)


@pytest.fixture
def record():
  return dataclasses.replace(make_records.make_records(1)[0], regions=None)


def test_perfect_regions_are_the_annotated_boxes(record):
  source = region_sources.choose("perfect", "scenes", NOISY, 0)
  regions = source.add(record).regions
  assert regions.labels == tuple(thing.label for thing in record.annotated)
  np.testing.assert_array_equal(regions.boxes_px, [thing.box_px for thing in record.annotated])


def test_noisy_regions_follow_their_options(record):
  source = region_sources.choose("noisy", "scenes", NOISY, 0)
  assert source.add(record).regions.features.shape == (5, 6)
  assert source.describe()["feature_size"] == 6


def test_a_store_gives_regions_by_picture(record, tmp_path):
  make_sources.write_store(tmp_path, [record.image_id, "7"], regions=3)
  source = region_sources.choose(str(tmp_path), "karpathy", NOISY, 2)
  found = source.add(record)
  stored = np.load(tmp_path / "att" / f"{record.image_id}.npz")["feat"]
  np.testing.assert_array_equal(found.regions.features, stored[:2])
  assert len(found.regions.boxes_px) == 2
  assert (found.width, found.height) == (record.width, record.height)
  assert source.describe()["path"] == str(tmp_path)


def test_boxes_of_a_resized_picture_are_scaled_to_the_original(record, tmp_path):
  half = np.float32([[2, 4, 20, 10]])
  cells = (half, np.ones([1, 3], np.float32))
  columns = [base64.b64encode(cell.tobytes()).decode() for cell in cells]
  row = [record.image_id, record.width // 2, record.height // 2, 1, *columns]
  (tmp_path / "half.tsv").write_text("\t".join(map(str, row)) + "\n")
  source = region_sources.choose(str(tmp_path / "half.tsv"), "karpathy", NOISY, 0)
  np.testing.assert_allclose(source.add(record).regions.boxes_px, 2 * half)


def test_a_picture_that_the_store_lacks_is_named(record, tmp_path):
  make_sources.write_store(tmp_path, ["7"])
  source = region_sources.choose(str(tmp_path), "karpathy", NOISY, 0)
  with pytest.raises(errors.UserError, match=f"no regions of picture {record.image_id}"):
    source.add(record)


def test_regions_of_the_dataset_itself_are_kept():
  (record,) = make_records.make_records(1, global_size=2)
  source = region_sources.choose("", "scan_precomp", NOISY, 3)
  found = source.add(record).regions
  np.testing.assert_array_equal(found.features, record.regions.features[:3])
  assert found.labels == record.regions.labels[:3]
  np.testing.assert_array_equal(found.global_feature, record.regions.global_feature)
  assert region_sources.choose("", "scan_precomp", NOISY, 0).add(record) == record


def test_without_annotated_boxes_no_detector_can_be_simulated():
  for name in ("perfect", "noisy", ""):
    with pytest.raises(errors.UserError, match="boxes, which karpathy does not have"):
      region_sources.choose(name, "karpathy", NOISY, 0)


def test_a_dataset_without_regions_of_its_own_says_so():
  with pytest.raises(errors.UserError, match="scenes has no regions"):
    region_sources.choose("source", "scenes", NOISY, 0)


def test_no_regions_leave_captions_alone(record):
  source = region_sources.choose("none", "activitynet_entities", NOISY, 0)
  assert source.add(record).regions.count == 0
  assert source.describe() == {"name": "none"}


def test_a_store_without_any_segment_of_the_dataset_is_refused(tmp_path):
  source = region_sources.choose(
    str(make_videos.write_store(tmp_path)), "activitynet_entities", NOISY, 0
  )
  with pytest.raises(errors.UserError, match="features of no segment"):
    region_sources.readable(source, {"train": ["v_zz_segment_00"]})
