"""How many captions are no sentences: repeats, cut-off ends, no noun; and how many are answered."""

from gcap_tf import printing
from gcap_tf.evaluation import evaluator
from gcap_tf.metrics.answers import sentences
from gcap_tf.runs import run_words


@evaluator.CAPTIONERS.register("sentences")
class Sentences(evaluator.Evaluator[evaluator.CaptionerAnswers]):
  """Counts the faults of the captions (`metrics.answers.sentences`) among the pictures answered."""

  def run(self, subject: evaluator.CaptionerAnswers) -> evaluator.Report:
    classes = run_words.of(subject.run.folder, subject.run.vocabulary)
    given = [answer for answer in subject.answers if answer.answered]
    captions = [answer.words for answer in given]
    found = sentences.shares(captions, classes.nouns, classes.modifiers)
    found = {"answered": len(given) / max(len(subject.answers), 1), **found}
    text = "\n".join(f"{name:16} {100 * value:7.2f} %" for name, value in found.items())
    return evaluator.Report(text, printing.percent(found))
