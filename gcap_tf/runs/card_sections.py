"""Sections of every model card: data, training, metrics and licence, as the run knows them."""

import json
import pathlib
from collections.abc import Mapping
from typing import Any

from gcap_tf import files
from gcap_tf.runs import run_folders

METRICS = "metrics.json"  # Of a packed run: the figures of one evaluation.
# Label and key of the scores to show, all in percent.
_HEADLINES = (
  ("CIDEr", "cider"),
  ("SPICE", "spice"),
  ("METEOR", "meteor"),
  ("ROUGE-L", "rouge_l"),
  ("BLEU-4", "bleu_4"),
  ("F1_all, %", "f1_all"),
  ("F1_loc, %", "f1_loc"),
  ("F1_all per sentence, %", "f1_all_per_sentence"),
  ("F1_loc per sentence, %", "f1_loc_per_sentence"),
  ("objects said that nobody annotated (CHAIR_i), %", "chair_i"),
  ("colours right, %", "colour_accuracy"),
  ("attention accuracy, %", "attention_accuracy"),
)
# Options without effect -> the option that must be on.
_IDLE = {
  "losses.box_weight": "losses.box_supervision",
  "losses.distill_loss": "losses.distill_weight",
  "losses.distill_area": "losses.distill_weight",
  "losses.reconstruction_words": "losses.reconstruction_weight",
  "losses.localized_words": "losses.reconstruction_weight",
}
_OF_BOXES = (
  *("losses.box_supervision", "losses.attention_weight"),
  *("losses.grounding_weight", "losses.classification_weight"),
)
_TERMS = {
  "flickr30k_entities": (
    "The weights were learned from the annotations of Flickr30k Entities (Plummer et al., IJCV "
    "2017) on the captions of Flickr30k (Young et al., TACL 2014); cite both. {pictures} "
    "The authors of the dataset say that the pictures come from Flickr, that their use must abide "
    "by Flickr's terms, and that they are provided to researchers and educators for non-commercial "
    "research and education. They state no separate licence for captions and boxes. Treat these "
    "weights likewise: for non-commercial research and education, unless you have cleared more."
  )
}


def sees_photographs(config: Mapping[str, Any]) -> bool:
  """Whether a run was trained on regions of photographs."""
  return "columns" in (config.get("regions") or {})


def data(run: run_folders.Run) -> list[str]:
  """The data that the weights were learned from, if the run folder names it."""
  dataset = run.config.get("dataset")
  if not dataset:
    return ["## Data", "", "The run folder does not say what the weights were learned from.", ""]
  lines = ["## Data", "", f"Trained on the train split of `{dataset}`."]
  if run.config.get("object_classes"):
    lines.append(f"{len(run.config['object_classes']):,} classes of annotated objects.")
  return [*lines, ""]


def stages(config: dict[str, Any]) -> list[str]:
  """The training of a run, from its first stage on, with the options that were on."""
  every = [stage for stage in (*config.get("earlier_stages", ()), config) if "training" in stage]
  if not every:
    return []
  options_of = [_options(stage["training"]) for stage in every]
  lines = ["## Training", ""]
  if config.get("kind") == "captioner" and not any(
    set(_OF_BOXES) & set(options) for options in options_of
  ):
    lines += ["No box of an annotated word was shown to the attention in any stage.", ""]
  for number, (stage, options) in enumerate(zip(every, options_of, strict=True), 1):
    begun = "captions" if "start" in options else "from random weights"
    lines.append(f"{number}. {stage.get('method') or begun}")
    lines += [f"   - {key}: `{value}`" for key, value in options.items()]
    if stage.get("averaged_runs"):
      count = stage["averaged_runs"]
      lines.append(f"   - weights: the mean of {count} runs of this stage (other seeds or options)")
    if stage is not config and stage.get("start_share"):
      lines.append(f"   - then weights: {_blend(stage, number)}")
  if config.get("start_share"):
    lines.append(f"{len(every) + 1}. weights: {_blend(config, len(every))}")
  return [*lines, ""]


def _blend(stage: Mapping[str, Any], number: int) -> str:
  """The stages whose weights were averaged after stage `number`, and their shares."""
  before, tuned = stage["start_share"], 1 - stage["start_share"]
  return f"{before:g} of {stage.get('start_stage', 1)} + {tuned:g} of {number}"


def _options(training: Mapping[str, Any]) -> dict[str, Any]:
  """The options of a stage that change its numbers and were on."""
  found = chosen({key: value for key, value in training.items() if key != "compute"})
  group = "losses.scheduled_sampling."
  samples = found.get(f"{group}start", -1) >= 0
  return {
    key: value
    for key, value in found.items()
    if _IDLE.get(key, key) in found and (samples or not key.startswith(group))
  }


def chosen(options: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
  """Nested options as `key.path` -> value, without those that are off."""
  found = {}
  for key, value in options.items():
    if isinstance(value, Mapping):
      found |= chosen(value, f"{prefix}{key}.")
    elif value not in (0, "", "none", None, []):
      found[prefix + key] = value
  return found


def metrics(run: run_folders.Run) -> list[str]:
  """The figures of a packed run, or the last validation of a trained one."""
  if (run.folder / METRICS).exists():
    figures = files.read_json(run.folder / METRICS, "figures")
    return figure_table(figures, run.config.get("evaluated", ""))
  figures = last_validation(run.folder / "metrics.jsonl")
  if not figures:
    return ["## Metrics", "", "The run folder holds no validation.", ""]
  lines = ["## Metrics", "", f"Last validation, after {figures.pop('step'):,} steps:", ""]
  lines += ["| | |", "|---|---|"]
  lines += [f"| {name.removeprefix('val_')} | {value:.4g} |" for name, value in figures.items()]
  return [*lines, ""]


def figure_table(figures: Mapping[str, Any], evaluated: str) -> list[str]:
  """The best known figures of an evaluation; all of them are in metrics.json."""
  where = f" (`{evaluated}`)" if evaluated else ""
  lines = ["## Metrics", "", f"As the evaluation command printed them{where}; `{METRICS}` has all:"]
  lines += ["", "| | |", "|---|---|"]
  return [*lines, *(f"| {name} | {value:.2f} |" for name, value in headlines(figures)), ""]


def headlines(figures: Mapping[str, Any]) -> list[tuple[str, float]]:
  """The figures that papers print; all numbers of a matcher."""
  known = [
    (name, figures[key]) for name, key in _HEADLINES if isinstance(figures.get(key), (int, float))
  ]
  numbers = [(name, value) for name, value in figures.items() if isinstance(value, (int, float))]
  return known or numbers


def last_validation(path: pathlib.Path) -> dict[str, Any]:
  """`step` and the `val_` figures of the last validation in a metrics.jsonl; {} for none."""
  found: dict[str, Any] = {}
  if path.exists():
    for line in path.read_text(encoding="utf-8").splitlines():
      values = json.loads(line)
      figures = {name: value for name, value in values.items() if name.startswith("val_")}
      if figures:
        found = {"step": values["step"], **figures}
  return found


def licence(run: run_folders.Run, stated: str) -> list[str]:
  """The stated licence, or the known terms of the dataset, or that none is known."""
  source = run.config.get("dataset") or "their training data"
  unknown = (
    f"Not stated (`--licence` of the exporter states it). The weights derive from {source}, whose "
    "terms apply to what is made from it."
  )
  pictures = "Photographs were used" if sees_photographs(run.config) else "No picture was used"
  terms = _TERMS.get(source, "").format(pictures=f"{pictures}.")
  return ["## Licence", "", stated or terms or unknown, ""]
