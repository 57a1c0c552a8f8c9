"""Drawn videos with regions of a small detector, and a captioner of them that is not trained."""

import pathlib

import numpy as np

from gcap_tf.data.prepared import prepare, prepared_data
from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.runs import detector_runs, run_folders
from gcap_tf.training import captioner_model
from tests.vision import small_detector

REGIONS = 3  # of a frame
_OPTIONS = {
  **{"embedding_size": 6, "hidden_size": 8, "attention_size": 5, "region_size": 7},
  **{"location_size": 4},
}


def prepare_videos(folder: pathlib.Path, **options) -> prepared_data.PreparedData:
  """Two segments with their frames, or with those of clips; FOLDER/eyes is the detector."""
  eyes = folder / "eyes"
  if not eyes.exists():
    small_detector.write_run(eyes)
  config = prepare.PrepareConfig(
    **{
      "dataset": "scenes",
      "regions": "pictures",
      "detector": str(eyes),
      "max_regions": REGIONS,
      "scenes": drawn_scenes.SceneConfig(train=2, val=0, test=0, video=True),
      **options,
    }
  )
  return prepare.prepare(config, folder / "out", workers=1, open_run=detector_runs.load)


def write_run(folder: pathlib.Path, data: prepared_data.PreparedData) -> pathlib.Path:
  """FOLDER/run, as training writes it."""
  options = captioner_model.CaptionerOptions("cyclical", _OPTIONS, min_count=1)
  vocabulary = captioner_model.build_vocabulary(data, options)
  config = captioner_model.model_config(data, vocabulary, options)
  model = run_folders.make_model("captioner", "cyclical", config)
  end = model.word_output.bias
  end.assign(end.numpy() - 5.0 * (np.arange(vocabulary.size) == 0))  # Else it may say nothing.
  values = {"dataset": data.name, "regions": data.info["detector"]}
  run_folders.save(folder / "run", "captioner", "cyclical", model, vocabulary, values)
  return folder / "run"
