"""The report of an ActivityNet-Entities evaluation: tables (percent) and values (fractions)."""

from collections.abc import Callable

from gcap_tf.metrics import errors, grounding, grounding_per_sentence, grounding_report
from gcap_tf.metrics.activitynet import anet_entities, anet_io


def given_sentences(
  references: anet_io.References, predictions: anet_io.Predictions, classes_shown: int = 10
) -> grounding_report.Report:
  """Localisation accuracy, with the most frequent classes."""
  accuracy = anet_entities.attention_accuracy(references, predictions)
  submitted = len(references.keys() & predictions.keys())
  heading = f"Given sentences: {submitted:,} of {len(references):,} videos submitted"
  return grounding_report.accuracy_report(heading, accuracy, classes_shown)


def generated_sentences(
  references: anet_io.References,
  predictions: anet_io.Predictions,
  lemma: Callable[[str], str],
  classes_shown: int = 10,
) -> grounding_report.Report:
  """F1_all and F1_loc, by class and per sentence, and the language errors."""
  anet_entities.check_overlap(references, predictions)
  events, sentences, strangers = anet_entities.collect(references, predictions, lemma)
  by_class = {mode: grounding.macro_scores(events, mode) for mode in ("all", "loc")}
  by_word = {mode: grounding.micro_scores(events, mode) for mode in ("all", "loc")}
  per_sentence = {
    mode: grounding_per_sentence.mean_scores(sentences, mode, strangers) for mode in ("all", "loc")
  }
  shares = errors.error_shares(events)
  rows, values = [], {}
  for mode in ("all", "loc"):
    scores, count = per_sentence[mode]
    rows += [
      (f"{mode}, mean over classes", by_class[mode]),
      (f"{mode}, over words", by_word[mode]),
      (f"{mode}, {count:,} sentences", scores),
    ]
    for name in ("precision", "recall", "f1"):
      values[f"{name}_{mode}"] = getattr(by_class[mode], name)
      values[f"{name}_{mode}_micro"] = getattr(by_word[mode], name)
      values[f"{name}_{mode}_per_sentence"] = getattr(scores, name)
  lines = [
    f"Generated sentences: {events.submitted:,} of {events.images:,} annotated segments "
    f"submitted, {strangers:,} other segments submitted",
    "",
    grounding_report.scores_table(rows),
    "",
    grounding_report.table(
      (f"{shares.words:,} words", "%"),
      [
        ("missing class", grounding_report.percent(shares.missing)),
        ("hallucinated class", grounding_report.percent(shares.hallucinated)),
        ("correct grounding", grounding_report.percent(shares.correct)),
        ("partial grounding", grounding_report.percent(shares.partial)),
        ("other error", grounding_report.percent(shares.other)),
      ],
    ),
    "",
    grounding_report.class_rows(grounding.class_table(events)[:classes_shown]),
  ]
  return grounding_report.Report("\n".join(lines), values | shares.as_json())
