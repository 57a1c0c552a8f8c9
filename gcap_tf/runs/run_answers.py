"""What a run folder says about its answers: word classes, pointing and calibration.

RUN/calibration.json  the model of confidence (`decoding.confidence`), from `trainers.calibrate`
"""

import pathlib

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.decoding import answers, confidence
from gcap_tf.decoding import pointing as pointings
from gcap_tf.runs import packed_manifest, region_recipes, run_folders, run_words
from gcap_tf.text import articles, lemmas, object_words

FILE = "calibration.json"
FIGURES = "figures"
_AREA_POWER = 0.25  # Among things of one name, people rather mean the large one.


def rules(run: run_folders.Run, names: tuple[str, ...] = ()) -> answers.AnswerRules:
  """The answer rules of a captioner.

  Args:
    run: the captioner.
    names: words that name things; () takes those of the run's word classes.
  """
  names = names or run_words.of(run.folder, run.vocabulary).things
  ids = run.vocabulary.ids
  things = tuple(ids[word] for word in names if word in ids)
  both, after_an = articles.ids(run.vocabulary)
  return answers.AnswerRules(
    things=things,
    labels_only=run.model.config.num_labels > 0 and run.model.config.feature_size == 0,
    calibration=read(pathlib.Path(run.folder) / FILE),
    articles=both,
    after_an=after_an,
    pointing=pointing(run) or pointing_by_names(run, things),
  )


def pointing(run: run_folders.Run) -> pointings.Pointing | None:
  """How the words of a run point, if its regions have labels and objectness; else None."""
  recipe = region_recipes.read(run.config)
  columns = recipe.columns if recipe and run.model.config.feature_size else {}
  if not {"labels", "score"} <= set(columns) or run.model.num_frames > 1:
    return None
  named = object_words.columns_named(run.vocabulary.ids, recipe.labels, run.vocabulary.unknown_id)
  plural = tuple(
    number
    for word, number in run.vocabulary.ids.items()
    if named[number] >= 0 and object_words.is_plural(word)
  )
  return pointings.Pointing(
    word_labels=tuple(named),
    plurals=plural,
    label_columns=tuple(columns["labels"]),
    score_column=columns["score"][0],
  )


def pointing_by_names(run: run_folders.Run, things: tuple[int, ...]) -> pointings.Pointing | None:
  """How the words of a run point if its regions have one label each and no feature; else None.

  Args:
    run: the captioner.
    things: ids of the words that name a thing; no other word names a label.
  """
  config, vocabulary = run.model.config, run.vocabulary
  if not config.num_labels or config.feature_size or run.model.num_frames > 1:
    return None
  names = [lemmas.lemma(label) for label in vocabulary.labels]
  places = {name: place for place, name in enumerate(dict.fromkeys(names))}
  named = [-1] * vocabulary.size
  for number in things:
    named[number] = places.get(lemmas.lemma(vocabulary.words[number]), -1)
  plural = (n for n in things if named[n] >= 0 and object_words.is_plural(vocabulary.words[n]))
  return pointings.Pointing(
    word_labels=tuple(named),
    plurals=tuple(plural),
    region_labels=(-1, *(places[name] for name in names)),
    area_power=_AREA_POWER,
  )


def read(path: pathlib.Path) -> confidence.Calibration | None:
  """The calibration in a file; None if there is no file."""
  if not path.exists():
    return None
  values = files.read_sealed_json(path, "calibration")
  values = {name: value for name, value in values.items() if name != FIGURES}
  found = configs.from_dict(confidence.Calibration, values, str(path))
  for weights, evidence in (
    (found.word_weights, confidence.WORD_EVIDENCE),
    (found.caption_weights, confidence.CAPTION_EVIDENCE),
  ):
    if len(weights) != len(evidence):
      raise errors.UserError(
        f"{path} has {len(weights)} weights for {', '.join(evidence)}; calibrate the run again"
      )
  return found


def write(path: pathlib.Path, calibration: confidence.Calibration, figures: dict) -> None:
  """Writes a calibration and the figures of its fit, into the manifest of a packed run, too."""
  files.write_sealed_json(path, {**configs.to_dict(calibration), FIGURES: figures})
  packed_manifest.add(path)
