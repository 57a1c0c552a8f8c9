import pytest

from gcap_tf.runs import detector_runs
from gcap_tf.vision import pictures
from gcap_tf.vision.extraction import beam, region_extractor
from tests.vision import picture_files, small_detector


def test_direct_runner_makes_the_store_and_names_bad_pictures(tmp_path):
  pytest.importorskip("apache_beam", reason="Apache Beam is not installed")
  folder, out = tmp_path / "pictures", tmp_path / "store"
  folder.mkdir()
  for number in range(3):
    picture_files.photograph(60 + number, 80).save(folder / f"{number}.png")
  (folder / "text.jpg").write_text("hello")
  config = region_extractor.ExtractionConfig(
    detector=small_detector.write_run(tmp_path / "run"), regions=4
  )
  found = pictures.find(folder)
  done = beam.extract(found, out, config, detector_runs.load, "DirectRunner", [])
  assert done.done == 3 and "text.jpg" in done.problems[0]
  assert sorted(path.name for path in (out / "att").iterdir()) == ["0.npz", "1.npz", "2.npz"]
  assert not list(out.glob("problems_*"))
