"""Whether captions give things the colours that the references give them."""

from gcap_tf import printing
from gcap_tf.evaluation import evaluator
from gcap_tf.metrics import coco_io
from gcap_tf.metrics.answers import colours
from gcap_tf.text import object_words, tokenizer


@evaluator.CAPTIONERS.register("colours")
class Colours(evaluator.Evaluator[evaluator.CaptionerAnswers]):
  """Judges the colours of things (`metrics.answers.colours`) on data with object classes."""

  def run(self, subject: evaluator.CaptionerAnswers) -> evaluator.Report:
    data, split = subject.split.data, subject.split
    if not data.object_classes:
      return evaluator.Report()
    references = coco_io.read_references(data.captions_path(split.name))
    found = colours.score(
      (answer.words for answer in subject.answers),
      (
        [tokenizer.tokenize(text) for text in references[answer.image_id]]
        for answer in subject.answers
      ),
      object_words.ObjectClasses(data.object_classes),
    )
    if not found["colours_named"]:
      return evaluator.Report()
    values = printing.percent(found, keep=("colours_named", "colours_judged"))
    text = f"colours named {found['colours_named']}, judged {found['colours_judged']}"
    if "colour_accuracy" in values:
      text += f", right {values['colour_accuracy']:.2f} %"
    return evaluator.Report(text, values)
