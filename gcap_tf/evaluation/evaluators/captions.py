"""Caption metrics: BLEU, METEOR, ROUGE-L, CIDEr, SPICE; also saves the captions."""

from gcap_tf.evaluation import evaluator
from gcap_tf.metrics import captions as caption_metrics
from gcap_tf.metrics import coco_io


@evaluator.CAPTIONERS.register("captions")
class Captions(evaluator.Evaluator[evaluator.CaptionerAnswers]):
  """Scores the captions against those of the split."""

  def run(self, subject: evaluator.CaptionerAnswers) -> evaluator.Report:
    config, split = subject.config, subject.split
    captions = {answer.image_id: answer.caption for answer in subject.answers}
    if config.captions_path:
      coco_io.write_results(config.captions_path, captions)
    references = coco_io.read_references(split.data.captions_path(split.name))
    scores = caption_metrics.score(
      references, captions, caption_metrics.CaptionMetricsConfig(metrics=config.metrics)
    )
    return evaluator.Report(scores.text(), scores.as_json())
