"""Run folders of detectors: written by training, read by whoever needs regions.

RUN/config.json      kind "detector", every option of model and training
RUN/vocabulary.json  the words and colours that regions are called by
RUN/checkpoints/ or RUN/weights.npz   what was learned; the backbone's other weights come from its
                                      package

`shipped` names the detector that comes with the package.
"""

import dataclasses
import pathlib
from typing import Any

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.runs import checkpoints, packed_weights
from gcap_tf.shipped import folders as shipped_folders
from gcap_tf.vision import detector

KIND = "detector"
_OF_THE_MACHINE = ("sources", "data", "command")


@dataclasses.dataclass(frozen=True)
class DetectorRun:
  """A detector with everything needed to use it.

  Attributes:
    folder: where it came from.
    detector: built, weights loaded.
    labels: words; column i of `label_probs` is labels[i].
    colours: column i of `colour_probs` is colours[i].
    config: the whole of config.json.
  """

  folder: pathlib.Path
  detector: detector.Detector
  labels: tuple[str, ...]
  colours: tuple[str, ...]
  config: dict[str, Any]


def write_config(
  folder: files.PathLike,
  model_config: detector.DetectorConfig,
  labels: tuple[str, ...],
  colours: tuple[str, ...],
  extra: dict[str, Any],
) -> None:
  """Writes config.json and vocabulary.json."""
  folder = pathlib.Path(folder)
  files.write_json(folder / "vocabulary.json", {"labels": labels, "colours": colours})
  files.write_json(folder / "config.json", config_values(model_config, extra))


def config_values(model_config: detector.DetectorConfig, extra: dict[str, Any]) -> dict[str, Any]:
  """The content of config.json."""
  values = {"kind": KIND, "model": "detector", "model_config": configs.to_dict(model_config)}
  return values | extra


def load(named: files.PathLike) -> DetectorRun:
  """Rebuilds the detector of a run folder, or the shipped one."""
  folder = shipped_folders.detector_folder(named)
  if not (folder / "config.json").exists():
    raise errors.UserError(f"{folder} is not a run folder: it has no config.json")
  config = files.read_json(folder / "config.json", "run configuration")
  if config.get("kind") != KIND:
    raise errors.UserError(f"{folder} holds a {config.get('kind')}, not a {KIND}")
  words = files.read_json(folder / "vocabulary.json", "words of the detector")
  model = detector.Detector(config["model_config"], config.get("backbone_weights", "imagenet"))
  best, packed = checkpoints.best_path(folder), packed_weights.path_of(folder)
  if best.exists():
    checkpoints.restore(best, model=model.learned)
  elif packed.exists():
    packed_weights.restore(packed, model.learned)
  else:
    raise errors.UserError(f"{folder} has no weights yet (checkpoints/best is missing)")
  return DetectorRun(folder, model, tuple(words["labels"]), tuple(words["colours"]), config)


def pack(run: files.PathLike, out: files.PathLike) -> None:
  """Copies a finished run as it is handed on: options, words, weights in float16.

  Where the data was on the machine that trained it is left out.
  """
  found, out = load(run), pathlib.Path(out)
  kept = {key: value for key, value in found.config.items() if key not in _OF_THE_MACHINE}
  files.write_json(out / "config.json", kept)
  words = (found.folder / "vocabulary.json").read_text(encoding="utf-8")
  files.write_text(out / "vocabulary.json", words)
  packed_weights.save(packed_weights.path_of(out), found.detector.learned)
