import math
import shutil

import pytest

from gcap_tf import errors
from gcap_tf.metrics import captions

PURE = captions.CaptionMetricsConfig(metrics=("bleu", "rouge_l", "cider"))
REFERENCES = {
  "1": ["A dog runs on the grass.", "The dog is running!"],
  "2": ["A man with a red hat", "a man, wearing a hat"],
  "3": ["Nobody is here"],
}


def test_perfect_captions_score_the_full_scale():
  said = {"1": "a dog runs on the grass", "2": "a man with a red hat"}
  values = captions.score(REFERENCES, said, PURE).values
  for n in range(1, 5):
    assert values[f"bleu_{n}"] == pytest.approx(100, abs=1e-3)
  assert values["rouge_l"] == pytest.approx(100)
  assert values["cider"] > 100


def test_bleu_1_by_hand():
  # 2 of 3 words are in the reference of 3 words: 200 / 3.
  scores = captions.score({"1": ["a dog runs"]}, {"1": "a dog sleeps"}, PURE)
  assert scores.values["bleu_1"] == pytest.approx(200 / 3, abs=1e-4)


def test_bleu_is_brief_where_captions_are():
  # "a" alone: precision 1, brevity exp(1 - 3 / 1).
  scores = captions.score({"1": ["a dog runs"]}, {"1": "a"}, PURE)
  assert scores.values["bleu_1"] == pytest.approx(100 * math.exp(-2), abs=1e-4)


def test_each_picture_has_its_score():
  said = {"2": "a man with a red hat", "1": ""}
  scores = captions.score(REFERENCES, said, PURE)
  assert scores.per_image["rouge_l"]["2"] == pytest.approx(100)
  assert scores.per_image["rouge_l"]["1"] == 0
  assert list(scores.per_image["cider"]) == ["2", "1"]


def test_what_java_would_compute_is_left_out_with_a_reason(monkeypatch):
  monkeypatch.setenv("PATH", "")
  scores = captions.score(REFERENCES, {"1": "a dog"})
  assert set(scores.not_computed) == {"meteor", "spice"}
  assert "meteor" not in scores.values and "cider" in scores.values
  assert "meteor   not computed: no java" in scores.text()
  assert scores.as_json()["not_computed"]["spice"].startswith("no java")
  assert scores.tokenizer.startswith("gcap_tf tokenizer")


@pytest.mark.skipif(shutil.which("java") is None, reason="no java on the PATH")
def test_meteor_is_on_the_papers_scale():
  references = {"1": ["A brown dog runs on green grass.", "The dog is running!"], "2": ["x"]}
  config = captions.CaptionMetricsConfig(metrics=("meteor",))
  scores = captions.score(references, {"1": "A dog runs on the grass", "2": ""}, config)
  # 100 times what METEOR gives to the same words without capitals and punctuation.
  assert scores.per_image["meteor"] == pytest.approx({"1": 31.021470895058056, "2": 0.0})
  assert 10 < scores.values["meteor"] < 40
  assert scores.tokenizer == "PTBTokenizer (Java)"


def test_captions_of_other_pictures_are_refused():
  with pytest.raises(errors.UserError, match=r"captions of 9 have no references; .* of 1, 2, 3"):
    captions.score(REFERENCES, {"9": "a dog"}, PURE)
  with pytest.raises(errors.UserError, match="no picture"):
    captions.score(REFERENCES, {}, PURE)


def test_unknown_metrics_name_the_known():
  with pytest.raises(errors.UserError, match='unknown metric "blue"; known: bleu, cider'):
    captions.score(REFERENCES, {"1": "a"}, captions.CaptionMetricsConfig(metrics=("blue",)))
