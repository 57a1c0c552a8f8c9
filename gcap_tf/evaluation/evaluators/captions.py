"""Caption metrics: BLEU, METEOR, ROUGE-L, CIDEr, SPICE; also saves the captions."""

from gcap_tf.evaluation import evaluator
from gcap_tf.metrics import captions as caption_metrics
from gcap_tf.metrics import coco_io
from gcap_tf.metrics.bootstrap import resampling

# Metrics of a split that are the mean over its captions; BLEU and METEOR are not.
_MEANS = ("rouge_l", "cider", "spice")


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
    statistics = {}
    if config.statistics:
      order = [answer.image_id for answer in subject.answers]
      statistics = {
        name: resampling.mean([each[image] for image in order])
        for name, each in scores.per_image.items()
        if name in _MEANS
      }
    return evaluator.Report(scores.text(), scores.as_json(), statistics)
