"""The lemma of a single word as CoreNLP gives it: tag the word first, then lemmatise by the tag.

The evaluator of ActivityNet-Entities asks CoreNLP for the lemma of every word by itself: dressed is
dress, stuck is stick, his is he, their is they (he and they are object classes there).
`lemmas.lemma` takes a word without a tag as a noun, which suits the words of Flickr30k's classes.

Here the tag of a word by itself is that of `tagging`; pronouns have the lemmas of CoreNLP's list;
adjectives and adverbs stay as they are (CoreNLP: older is older), unless they are forms of a verb
(stuck).
"""

import functools

from gcap_tf.text import irregular_forms, lemmas, tagging

# From CoreNLP's morphology (PRP, PRP$); other pronouns are their own lemmas.
PRONOUNS = {
  "her": "she",
  "him": "he",
  "his": "he",
  "me": "i",
  "our": "we",
  "their": "they",
  "them": "they",
  "us": "we",
  "your": "you",
}
_VERBS = ("VERB", "AUX")
_UNCHANGED = ("ADJ", "ADV", "PRON", "DET", "ADP", "SCONJ", "CCONJ", "PART", "INTJ")


@functools.lru_cache(maxsize=200_000)
def lemma(word: str) -> str:
  """The lemma of a word by itself, in lower case."""
  word = word.lower()
  if word in PRONOUNS:
    return PRONOUNS[word]
  if not word:
    return word
  ((tag,),) = tagging.load_tagger().tag([[word]])
  if tag in _VERBS or (tag == "ADJ" and is_verb_form(word)):
    return lemmas.lemma(word, "VERB")
  return word if tag in _UNCHANGED else lemmas.lemma(word, tag)


def is_verb_form(word: str) -> bool:
  """Whether an adjective is the participle of a verb: stuck, laid, dressed."""
  regular = word.endswith("ed") and lemmas.lemma(word, "VERB") != word
  return regular or word in irregular_forms.VERBS or lemmas.is_listed(word, "VERB")
