"""How varied the captions are, and how many of them are new."""

from collections.abc import Iterator

from gcap_tf import printing
from gcap_tf.data.prepared import prepared_data
from gcap_tf.evaluation import evaluator
from gcap_tf.metrics import coco_io, diversity
from gcap_tf.text import tokenizer


@evaluator.CAPTIONERS.register("diversity")
class Diversity(evaluator.Evaluator[evaluator.CaptionerAnswers]):
  """Compares the captions with each other and with those of the training split."""

  def run(self, subject: evaluator.CaptionerAnswers) -> evaluator.Report:
    captions = [answer.words for answer in subject.answers]
    scores = diversity.diversity(captions, training_captions(subject.split.data))
    values = printing.percent(scores.as_json(), keep=("words_per_caption",))
    return evaluator.Report(scores.text(), values)


def training_captions(data: prepared_data.PreparedData) -> Iterator[list[str]] | None:
  """Words of the training captions; None if the data has no training split."""
  if "train" not in data.splits:
    return None
  captions = coco_io.read_references(data.captions_path("train"))
  return (tokenizer.tokenize(text) for texts in captions.values() for text in texts)
