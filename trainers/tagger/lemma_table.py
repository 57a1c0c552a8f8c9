"""Makes the table of lemmas from a treebank.

It keeps only words that the rules of `lemmas` get wrong, so it stays small.
"""

import collections
from collections.abc import Iterable, Sequence

from gcap_tf import files
from gcap_tf.text import lemmas
from trainers.tagger import conllu

# A form seen less often, with a lemma that no rule gives, is mostly a misspelling.
MIN_COUNT = {"ADJ": 2, "ADV": 3, "NOUN": 3, "VERB": 2}


def majority(sentences: Iterable[Sequence[conllu.Token]]) -> dict[tuple[str, str], str]:
  """(lower-case form, tag) -> its most frequent lemma, of words in letters, well spelt."""
  counts: dict[tuple[str, str], collections.Counter[str]] = collections.defaultdict(
    collections.Counter
  )
  for sentence in sentences:
    for token in sentence:
      spelt = token.form.isalpha() and token.lemma.isalpha() and not token.typo
      if spelt and token.tag in MIN_COUNT:
        counts[token.form.lower(), token.tag][token.lemma.lower()] += 1
  return {
    key: found.most_common(1)[0][0]
    for key, found in counts.items()
    if found.total() >= MIN_COUNT[key[1]]
  }


def exceptions(lemma_of: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
  """The rows that the rules would get wrong.

  Plural nouns that the treebank leaves as they are ("supplies", "glasses") are not
  among them: CoreNLP makes them singular.
  """
  return {
    (form, tag): lemma
    for (form, tag), lemma in lemma_of.items()
    if lemmas.by_rule(form, tag) != lemma and not (tag == "NOUN" and form == lemma)
  }


def write(rows: dict[tuple[str, str], str], path: files.PathLike) -> None:
  """Writes `form<TAB>tag<TAB>lemma` lines, sorted."""
  files.write_text(
    path,
    "".join(f"{form}\t{tag}\t{lemma}\n" for (form, tag), lemma in sorted(rows.items())),
  )
