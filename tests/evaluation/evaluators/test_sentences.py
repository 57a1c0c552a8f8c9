"""Tests of gcap_tf/evaluation/evaluators/sentences.py."""

import dataclasses

from gcap_tf.evaluation.evaluators import sentences
from gcap_tf.runs import run_words
from gcap_tf.text import word_classes
from tests.evaluation.evaluators import subjects


def test_faults_are_counted_among_the_pictures_answered(tmp_path):
  subject = subjects.captioner(tmp_path)
  answers = [dataclasses.replace(answer, words=("a", "dog")) for answer in subject.answers]
  answers[0] = dataclasses.replace(answers[0], words=("a", "dog", "in", "a"))
  answers[1] = dataclasses.replace(answers[1], words=(), answered=False)
  subject.__dict__["answers"] = answers
  classes = word_classes.WordClasses(("dog",), (), ("dog",), ())
  classes.save(subject.run.folder / run_words.FILE)
  values = sentences.Sentences().run(subject).values
  assert values["answered"] == 80.0 and values["faulty"] == values["fault_cut_off"] == 25.0
