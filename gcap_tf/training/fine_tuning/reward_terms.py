"""The terms of a reward, from options and data: scorers of n-grams and SPICE, and the matcher."""

import pathlib
from collections.abc import Mapping
from typing import Literal

import numpy as np

from gcap_tf import errors
from gcap_tf.data.prepared import prepared_data
from gcap_tf.metrics import coco_io
from gcap_tf.rewards import (
  bleu,
  cider_d,
  document_frequency,
  matcher_score,
  ngrams,
  object_mentions,
  spice,
  weighted,
)
from gcap_tf.runs import run_folders
from gcap_tf.text import tagging
from gcap_tf.training.fine_tuning import caption_table

_LEAST_SEEN = 0.9


def load_matcher(
  path: str,
  role: Literal["reward", "teacher"],
  start: run_folders.Run,
  data: prepared_data.PreparedData,
  table: caption_table.CaptionTable,
  nouns: Literal["table", "tagger"],
  final_period: bool,
) -> matcher_score.MatcherScore:
  """Loads a matcher that reads generated captions, and prints which one it is.

  Args:
    path: its run folder.
    role: what it is for.
    start: the captioner whose captions it reads.
    data: the pictures.
    table: the training captions.
    nouns: how nouns are found.
    final_period: whether captions get a period at their end.
  """
  run = run_folders.load(path, "matcher")
  if run.model.config.feature_size != data.feature_size:
    raise errors.UserError(
      f"matcher {path} was trained on regions of {run.model.config.feature_size} features, "
      f"{data.folder} has {data.feature_size}; use a matcher of the same regions"
    )
  if run.model.config.num_labels and run.vocabulary.labels != start.vocabulary.labels:
    raise errors.UserError(
      f"matcher {path} and {start.folder} read different region labels; train both on the same data"
    )
  if role == "teacher" and not run.model.attends:
    raise errors.UserError(f"matcher {path} ({run.name}) has no attention to distil")
  print(f"{role}: {run.name} from {pathlib.Path(path).resolve()} (nouns by {nouns})")
  return matcher_score.MatcherScore(
    run.model,
    run.vocabulary,
    start.vocabulary,
    table.words_tagged(matcher_score.scored_tags(run.model), start.vocabulary.size),
    tagging.load_tagger() if nouns == "tagger" else None,
    final_period,
    where=f"matcher {path}",
  )


def terms(
  weights: Mapping[str, float],
  references: dict[str, np.ndarray],
  folder: pathlib.Path,
  frequency_file: str,
  start: run_folders.Run,
  split: prepared_data.Split,
  table: caption_table.CaptionTable,
) -> dict[str, weighted.Term]:
  """The scorers of the terms that `weights` name; the matcher is not among them.

  Args:
    weights: of the terms.
    references: image id -> its captions as ids.
    folder: of the run.
    frequency_file: document frequencies of another program or run, "" counts them.
    start: the captioner.
    split: the training pictures.
    table: the training captions.
  """
  found: dict[str, weighted.Term] = {}
  if "cider" in weights:
    stamp = caption_table.mark(split, start.vocabulary)
    found["cider"] = cider_d.CiderD(references, frequencies(folder, frequency_file, table, stamp))
  if "objects" in weights:
    classes = object_mentions.classes_of(start.vocabulary, split.data.object_classes)
    found["objects"] = object_mentions.ObjectMentions(references, classes)
  if "bleu" in weights:
    found["bleu"] = bleu.Bleu4(references)
  if "spice" in weights:
    texts = coco_io.read_references(split.data.captions_path(split.name))
    found["spice"] = spice.Spice(texts, start.vocabulary)
  return found


def frequencies(
  folder: pathlib.Path, given: str, table: caption_table.CaptionTable, stamp: str
) -> document_frequency.DocumentFrequency:
  """Document frequencies of the run: read from a file, kept from before, or counted.

  They are kept in the run folder.

  Args:
    folder: of the run.
    given: file to read them from, "" for none.
    table: the training captions.
    stamp: fingerprint of data and vocabulary.
  """
  path = folder / "document_frequency.npz"
  if given:
    if given.endswith(".npz"):
      frequency = document_frequency.DocumentFrequency.load(given, stamp)
    else:
      frequency = document_frequency.read_pickle(given)
    check_frequencies(frequency, table, given)
  elif path.exists():
    return document_frequency.DocumentFrequency.load(path, stamp)
  else:
    frequency = table.document_frequency()
  frequency.save(path, stamp)
  return frequency


def check_frequencies(
  frequency: document_frequency.DocumentFrequency, table: caption_table.CaptionTable, where: str
) -> None:
  """Raises a `UserError` if the frequencies belong to other captions or other ids."""
  pictures = len(table.image_ids)
  if round(frequency.images) != pictures:
    raise errors.UserError(
      f"document frequencies {where} count {frequency.images:,.0f} pictures, the training split "
      f"has {pictures:,}: they belong to another dataset; leave them out to count again"
    )
  keys = np.unique(ngrams.extract(table.ids.astype(np.int64), table.lengths)[1])
  seen = float(np.isin(keys, frequency.keys).mean())
  if seen < _LEAST_SEEN:
    raise errors.UserError(
      f"document frequencies {where} know {seen:.0%} of the training captions' n-grams: they "
      "belong to another dataset or vocabulary; leave them out to count again"
    )
