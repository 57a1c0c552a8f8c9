from benchmarks import turns, vision
from gcap_tf.runs import detector_runs
from gcap_tf.vision import pictures
from tests.vision import picture_files, small_detector


def test_parts_and_rates_are_measured(tmp_path):
  run = small_detector.write_run(tmp_path / "run")
  folder = tmp_path / "pictures"
  folder.mkdir()
  for number in range(12):
    picture_files.photograph(60 + number, 80).save(folder / f"{number:02d}.png")
  found = pictures.find(folder)
  inputs = [path.read_bytes() for path in found.values()][:2]
  seconds = turns.by_turns(vision.parts(detector_runs.load(run), inputs), inputs)
  assert next(iter(seconds)) == "backbone alone" and len(seconds) == 4
  assert all(value > 0 for values in seconds.values() for value in values)
  assert vision.extraction_rate(found, run, 1) > 0
