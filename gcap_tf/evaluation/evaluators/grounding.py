"""Grounding: whether the words of captions point at the right boxes, and hallucinated objects."""

from gcap_tf import errors, files, printing
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import (
  captioner_evaluation,
  error_pictures,
  evaluator,
  picture_grounding,
  video_grounding,
)
from gcap_tf.metrics import diversity, grounding_report, lemma_source, results_io
from gcap_tf.metrics import grounding as grounding_metrics
from gcap_tf.metrics.activitynet import anet_io
from gcap_tf.text import object_words


@evaluator.CAPTIONERS.register("grounding")
class Grounding(evaluator.Evaluator[evaluator.CaptionerAnswers]):
  """Judges generated sentences and, if the configuration says so, the split's own."""

  def run(self, subject: evaluator.CaptionerAnswers) -> evaluator.Report:
    split, config = subject.split, subject.config
    if not (split.has_boxes and split.data.object_classes):
      return evaluator.Report(f"grounding not computed: {split.folder} has no annotated boxes")
    path = split.data.references_path(split.name)
    value = files.read_json(path, "references")
    if anet_io.is_video(value):
      return video_grounding.report(subject, path, value)
    references = results_io.read_references(path, value)
    if not any(caption.classes for reference in references for caption in reference.captions):
      raise errors.UserError(f"{path} has no annotated object word; grounding cannot be judged")
    classes = object_words.ObjectClasses(split.data.object_classes)
    predictions = captioner_evaluation.generated_predictions(subject.answers, classes)
    if config.grounding_path:
      results_io.write_submission(config.grounding_path, predictions, "gen")
    if config.errors_path:
      sizes = {answer.image_id: answer.size for answer in subject.answers}
      found = error_pictures.examples(references, predictions)
      error_pictures.write(config.errors_path, config.pictures, sizes, found)
    lemmas = lemma_source.choose(None, value)
    generated = grounding_report.generated_sentences(
      references, predictions, lemmas.lemma, frequency=training_frequency(split.data)
    )
    hallucination = diversity.hallucination(references, predictions, lemmas.lemma)
    text = f"{generated.text}\n\n{hallucination.text()}"
    values = generated.values | hallucination.as_json()
    statistics = {}
    if config.statistics:
      statistics = picture_grounding.generated(references, predictions, lemmas.lemma)
    if config.given_sentences:
      run = subject.run
      given = captioner_evaluation.given_predictions(run.model, run.vocabulary, split)
      if config.given_path:
        results_io.write_submission(config.given_path, given, "GT")
      judged = grounding_report.given_sentences(references, given)
      text, values = f"{text}\n\n{judged.text}", values | judged.values
      if config.statistics:
        statistics["attention_accuracy"] = picture_grounding.given(references, given)
      if run.model.has_localizer:
        found = captioner_evaluation.given_predictions(
          run.model, run.vocabulary, split, by="localizer"
        )
        accuracy = grounding_metrics.attention_accuracy(references, found).macro
        text = f"{text}\n\nattention accuracy of the localiser {100 * accuracy:.2f} %"
        values["localizer_accuracy"] = accuracy
        if config.statistics:
          statistics["localizer_accuracy"] = picture_grounding.given(references, found)
    return evaluator.Report(text, printing.percent(values), statistics)


def training_frequency(data: prepared_data.PreparedData) -> dict[str, int] | None:
  """How often each class is annotated in the training split; None if there is none."""
  if "train" not in data.splits:
    return None
  path = data.references_path("train")
  return results_io.class_counts(results_io.read_references(path, files.read_json(path)))
