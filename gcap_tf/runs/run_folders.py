"""A run folder is self-contained: any tool given one rebuilds the model from it.

RUN/config.json      kind, model name, every option
RUN/vocabulary.json  the words (and region labels) of the model
RUN/history.jsonl    every command that trained it, with its configuration
RUN/checkpoints/     step-*/ training states, best/ the best weights so far
RUN/metrics.jsonl    one JSON object per logged step
RUN/tensorboard/     curves and pictures

A packed run (`export.pack_run`) has `weights.npz` instead of `checkpoints/` and logs.
`shipped` names the one that comes with the package.
"""

import dataclasses
import pathlib
from typing import Any, Literal

import keras

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.captioners import catalog as captioner_catalog
from gcap_tf.matchers import catalog as matcher_catalog
from gcap_tf.runs import (
  checkpoints,
  packed_manifest,
  packed_weights,
  renamed_options,
  run_config,
)
from gcap_tf.shipped import folders as shipped_folders
from gcap_tf.text import vocabulary as vocabularies

Kind = Literal["matcher", "captioner"]
_REGISTRIES = {
  "matcher": matcher_catalog.MATCHERS,
  "captioner": captioner_catalog.CAPTIONERS,
}


@dataclasses.dataclass(frozen=True)
class Run:
  """A model with everything needed to use it.

  Attributes:
    folder: its run folder.
    kind: "matcher" or "captioner".
    name: registered model name ("scan").
    model: built, weights loaded.
    vocabulary: its words.
    config: the whole of config.json.
  """

  folder: pathlib.Path
  kind: Kind
  name: str
  model: keras.Model
  vocabulary: vocabularies.Vocabulary
  config: dict[str, Any]


def make_model(kind: Kind, name: str, model_config: Any) -> keras.Model:
  """A model by name, with all its weights; `model_config` is its Config or a dict."""
  cls = _REGISTRIES[kind].get(name)
  if isinstance(model_config, dict):
    model_config = configs.from_dict(cls.Config, model_config, f"{kind} {name}")
  return cls(model_config)


def write_config(
  folder: files.PathLike,
  kind: Kind,
  name: str,
  model_config: Any,
  vocabulary: vocabularies.Vocabulary,
  extra: dict[str, Any] | None = None,
) -> None:
  """Writes config.json and vocabulary.json."""
  folder = pathlib.Path(folder)
  vocabulary.save(folder / "vocabulary.json")
  values = config_values(kind, name, model_config, vocabulary, extra or {})
  files.write_sealed_json(folder / "config.json", values)


def config_values(
  kind: Kind,
  name: str,
  model_config: Any,
  vocabulary: vocabularies.Vocabulary,
  extra: dict[str, Any],
) -> dict[str, Any]:
  """The content of config.json."""
  return {
    "kind": kind,
    "model": name,
    "model_config": configs.to_dict(model_config),
    "vocabulary": vocabulary.fingerprint,
    **extra,
  }


def save(
  folder: files.PathLike,
  kind: Kind,
  name: str,
  model: keras.Model,
  vocabulary: vocabularies.Vocabulary,
  extra: dict[str, Any] | None = None,
) -> None:
  """Writes a run folder that holds a finished model (imported or shipped)."""
  write_config(folder, kind, name, model.config, vocabulary, extra)
  checkpoints.save(checkpoints.best_path(folder), model=model)


def read_config(folder: pathlib.Path) -> dict[str, Any]:
  """config.json of a run folder, with options under their current names."""
  return renamed_options.current_run(run_config.read(folder))


def load(folder: files.PathLike, kind: Kind | None = None) -> Run:
  """Rebuilds the model of a run folder with its best weights.

  Args:
    folder: the run, or "shipped".
    kind: the kind that the caller needs; another kind is a `UserError`.
  """
  folder = shipped_folders.run_folder(folder)
  config = read_config(folder)
  if kind is not None and config["kind"] != kind:
    raise errors.UserError(f"{folder} holds a {config['kind']} ({config['model']}), not a {kind}")
  if config["kind"] not in _REGISTRIES:
    raise errors.UserError(f"{folder} holds a {config['kind']}, not a captioner or a matcher")
  if not {"model_config", "vocabulary"} <= config.keys():
    raise errors.UserError(f"{folder}/config.json does not say which model the run has")
  packed_manifest.check(folder)
  vocabulary = vocabularies.Vocabulary.load(folder / "vocabulary.json")
  if vocabulary.fingerprint != config["vocabulary"]:
    raise errors.UserError(
      f"{folder}/vocabulary.json is not the vocabulary that this run was trained with "
      f"({vocabulary.fingerprint} instead of {config['vocabulary']})"
    )
  best, packed = checkpoints.best_path(folder), packed_weights.path_of(folder)
  if not best.exists() and not packed.exists():
    raise errors.UserError(f"{folder} has no weights yet (checkpoints/best is missing)")
  model = make_model(config["kind"], config["model"], config["model_config"])
  if best.exists():
    checkpoints.restore(best, model=model)
  else:
    packed_weights.restore(packed, model)
  return Run(folder, config["kind"], config["model"], model, vocabulary, config)
