from gcap_tf import errors
from gcap_tf.runs import run_words
from gcap_tf.shipped import folders
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.text import word_classes

VOCABULARY = vocabularies.Vocabulary("captioner", ("", "a", "dog", "runs", "UNK"), ("dog",))


def test_a_run_asks_the_tagger_once(tmp_path, monkeypatch):
  first = run_words.of(tmp_path, VOCABULARY)
  assert first.nouns == ("dog",) and (tmp_path / run_words.FILE).exists()
  monkeypatch.setattr(word_classes.WordClasses, "by_tagger", None)
  assert run_words.of(tmp_path, VOCABULARY) == first


def test_without_a_tagger_labels_decide_and_nothing_is_kept(tmp_path, monkeypatch):
  def missing(vocabulary):
    raise errors.UserError("spacy is not installed")

  monkeypatch.setattr(word_classes.WordClasses, "by_tagger", missing)
  assert run_words.of(tmp_path, VOCABULARY).nouns == ("dog",)
  assert not (tmp_path / run_words.FILE).exists()


def test_the_shipped_run_needs_no_tagger(monkeypatch):
  monkeypatch.setattr(word_classes.WordClasses, "by_tagger", None)
  words = vocabularies.Vocabulary.load(folders.RUN / "vocabulary.json")
  found = run_words.of(folders.RUN, words)
  assert {"dog", "dogs", "person", "elephant", "umbrella"} <= set(found.nouns)
  assert set(found.nouns) <= set(words.words)
