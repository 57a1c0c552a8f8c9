"""The report of a grounding evaluation: tables for people, one flat dict for programs."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from gcap_tf.metrics import diversity, grounding, grounding_per_sentence, results_io
from gcap_tf.metrics import errors as error_kinds


@dataclasses.dataclass(frozen=True)
class Report:
  """Tables to print (percent), and the values of the last line (fractions)."""

  text: str
  values: dict[str, float | str]


def eval_mode(
  submission: results_io.Submission, references: Sequence[results_io.Reference]
) -> results_io.EvalMode:
  """The mode that the submission states, else "GT" if its lists are as long as the references'."""
  if submission.eval_mode is not None:
    return submission.eval_mode
  sizes = [
    (len(submission.results[reference.image_id]), len(reference.captions))
    for reference in references
    if reference.image_id in submission.results
  ]
  given = any(found > 1 for found, _ in sizes) and all(found == wanted for found, wanted in sizes)
  return "GT" if given else "gen"


def given_sentences(
  references: Sequence[results_io.Reference],
  predictions: results_io.Predictions,
  classes_shown: int = 10,
) -> Report:
  """Attention accuracy, with the most frequent classes."""
  accuracy = grounding.attention_accuracy(references, predictions)
  found = sum(reference.image_id in predictions for reference in references)
  heading = f"Given sentences: {found:,} of {len(references):,} pictures submitted"
  return accuracy_report(heading, accuracy, classes_shown)


def accuracy_report(heading: str, accuracy: grounding.Accuracy, classes_shown: int) -> Report:
  """A report of attention accuracy under a heading."""
  lines = [
    f"{heading}, {len(accuracy.per_class):,} classes",
    "",
    table(
      ("attention accuracy", "%"),
      [
        ("mean over classes", percent(accuracy.macro)),
        ("mean over words", percent(accuracy.micro)),
      ],
    ),
    "",
    table(
      ("class", "words", "%"),
      [
        (name, f"{words:,}", percent(rate))
        for name, (rate, words) in list(accuracy.per_class.items())[:classes_shown]
      ],
    ),
  ]
  return Report("\n".join(lines), accuracy.as_json())


def generated_sentences(
  references: Sequence[results_io.Reference],
  predictions: results_io.Predictions,
  lemma: Callable[[str], str],
  recall_over: grounding_per_sentence.RecallOver = "classes",
  frequency: Mapping[str, int] | None = None,
  classes_shown: int = 10,
) -> Report:
  """Every figure of generated sentences.

  Args:
    references: the pictures evaluated.
    predictions: image id -> captions.
    lemma: lemma of one word.
    recall_over: see `grounding_per_sentence`.
    frequency: class -> count in the training set, for the groups by frequency.
    classes_shown: rows of the table of classes.
  """
  scores = grounding.score(references, predictions, lemma)
  sentences = grounding_per_sentence.score(references, predictions, lemma, recall_over)
  shares = error_kinds.error_shares(scores.events)
  chair = diversity.hallucination(references, predictions, lemma)
  events = scores.events
  spoken = sum(row.predicted > 0 for row in scores.per_class)
  groups = grounding.frequency_groups(scores.per_class, frequency)
  counted = "in training" if frequency is not None else "here"
  lines = [
    f"Generated sentences: {events.submitted:,} of {events.images:,} pictures submitted, "
    f"{events.annotated_classes:,} classes annotated there, {spoken:,} of them predicted",
    "",
    scores_table(
      [
        ("all, mean over classes", scores.all),
        ("all, over words", scores.all_micro),
        ("all, partial as correct", scores.all_bound),
        (f"all, {sentences.sentences[0]:,} sentences", sentences.all),
        ("loc, mean over classes", scores.loc),
        ("loc, over words", scores.loc_micro),
        ("loc, partial as correct", scores.loc_bound),
        (f"loc, {sentences.sentences[1]:,} sentences", sentences.loc),
      ]
    ),
    "",
    table(
      (f"{shares.words:,} words", "%"),
      [
        ("missing class", percent(shares.missing)),
        ("hallucinated class", percent(shares.hallucinated)),
        ("correct grounding", percent(shares.correct)),
        ("partial grounding", percent(shares.partial)),
        ("other error", percent(shares.other)),
        ("  of which enlarged", percent(shares.enlarged)),
        ("  of which deviated", percent(shares.deviated)),
      ],
    ),
    "",
    table(
      ("not in the picture, by any reference", "%"),
      [
        (f"of {chair.mentions:,} object words (CHAIR i)", percent(chair.chair_i)),
        (f"of {chair.captions:,} captions (CHAIR s)", percent(chair.chair_s)),
      ],
    ),
    "",
    table(
      (f"classes by frequency {counted}", "seen at least", "F1 all"),
      [
        (f"{group.first}-{group.last}", f"{group.least_frequent:,}", percent(group.f1))
        for group in groups
      ],
    ),
    "",
    class_rows(scores.per_class[:classes_shown]),
  ]
  values = scores.as_json() | sentences.as_json() | shares.as_json() | chair.as_json()
  if frequency is not None:
    for group in groups:
      values |= group.as_json()
  return Report("\n".join(lines), values)


def class_rows(classes: Sequence[grounding.ClassScores]) -> str:
  """A table of classes in mode "all"."""
  return table(
    ("class", "predicted", "annotated", "precision", "recall", "F1"),
    [
      (
        row.name,
        f"{row.predicted:,}",
        f"{row.annotated:,}",
        percent(row.precision),
        percent(row.recall),
        percent(row.f1),
      )
      for row in classes
    ],
  )


def scores_table(rows: Sequence[tuple[str, grounding.Scores]]) -> str:
  return table(
    ("%", "precision", "recall", "F1"),
    [(name, percent(s.precision), percent(s.recall), percent(s.f1)) for name, s in rows],
  )


def percent(fraction: float) -> str:
  return f"{100 * fraction:.2f}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
  """Aligned columns: the first to the left, the others to the right."""
  widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
  lines = []
  for row in (header, *rows):
    cells = [row[0].ljust(widths[0])]
    cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
    lines.append("  ".join(cells).rstrip())
  return "\n".join([lines[0], "-" * len(max(lines, key=len)), *lines[1:]])
