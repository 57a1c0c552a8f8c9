"""Run folders of detectors: written by training, read by whoever needs regions.

RUN/config.json      kind "detector", every option of model and training
RUN/vocabulary.json  the words and colours that regions are called by
RUN/checkpoints/ or RUN/weights.npz   what was learned
RUN/backbone.npz     the backbone's other weights, of a packed run; without it they come from the
                     package or the file that config.json names

`shipped` names the detector that comes with the package.
"""

import dataclasses
import pathlib
import shutil
from typing import Any

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.runs import checkpoints, packed_backbone, packed_weights, run_config
from gcap_tf.shipped import folders as shipped_folders
from gcap_tf.vision import detector

KIND = "detector"
IMAGENET = "imagenet"
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
  files.write_sealed_json(folder / "vocabulary.json", {"labels": labels, "colours": colours})
  files.write_sealed_json(folder / "config.json", config_values(model_config, extra))


def config_values(model_config: detector.DetectorConfig, extra: dict[str, Any]) -> dict[str, Any]:
  """The content of config.json."""
  values = {"kind": KIND, "model": "detector", "model_config": configs.to_dict(model_config)}
  return values | extra


def load(named: files.PathLike) -> DetectorRun:
  """Rebuilds the detector of a run folder, or the shipped one."""
  folder = shipped_folders.detector_folder(named)
  config = run_config.read(folder, ["kind"])
  if config["kind"] != KIND:
    raise errors.UserError(f"{folder} holds a {config['kind']}, not a {KIND}")
  if "model_config" not in config:
    raise errors.UserError(f'{folder}/config.json describes no detector: it has no "model_config"')
  words = files.read_sealed_json(folder / "vocabulary.json", "words of the detector")
  model = _with_backbone(folder, config)
  best, packed = checkpoints.best_path(folder), packed_weights.path_of(folder)
  if best.exists():
    checkpoints.restore(best, model=model.learned)
  elif packed.exists():
    packed_weights.restore(packed, model.learned)
  else:
    raise errors.UserError(f"{folder} has no weights yet (checkpoints/best is missing)")
  return DetectorRun(folder, model, tuple(words["labels"]), tuple(words["colours"]), config)


def _with_backbone(folder: pathlib.Path, config: dict[str, Any]) -> detector.Detector:
  """The detector with the weights of its backbone; what was learned is still random."""
  own = packed_backbone.path_of(folder)
  if not own.exists():
    return detector.Detector(config["model_config"], config.get("backbone_weights", IMAGENET))
  model = detector.Detector(config["model_config"], "none")
  packed_backbone.restore(own, model.backbone)
  return model


def copy_backbone(run: files.PathLike, out: files.PathLike) -> None:
  """Copies the backbone of a packed run, if it brings one."""
  own = packed_backbone.path_of(run)
  if own.exists():
    with files.atomic_path(packed_backbone.path_of(out)) as partial:
      shutil.copyfile(own, partial)


def pack(run: files.PathLike, out: files.PathLike) -> None:
  """Copies a finished run as it is handed on: options, words, weights in float16.

  Where data and weights were on the machine that trained it is left out. A backbone whose weights
  are in no package comes along.
  """
  found, out = load(run), pathlib.Path(out)
  kept = {key: value for key, value in found.config.items() if key not in _OF_THE_MACHINE}
  weights = kept.get("backbone_weights", IMAGENET)
  if weights not in (IMAGENET, "none"):
    packed_backbone.save(packed_backbone.path_of(out), found.detector.backbone)
    kept["backbone_weights"] = pathlib.Path(weights).name
    if "training" in kept:
      kept["training"] = kept["training"] | {"backbone_weights": kept["backbone_weights"]}
  files.write_sealed_json(out / "config.json", kept)
  words = (found.folder / "vocabulary.json").read_text(encoding="utf-8")
  files.write_text(out / "vocabulary.json", words)
  packed_weights.save(packed_weights.path_of(out), found.detector.learned)
