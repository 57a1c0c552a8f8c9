"""Penn Treebank tags as universal parts of speech (universaldependencies.org, en-penn table)."""

_UNIVERSAL = {
  "ADJ": "JJ JJR JJS AFX",
  "ADP": "IN RP",
  "ADV": "RB RBR RBS WRB",
  "AUX": "MD",
  "CCONJ": "CC",
  "DET": "DT PDT WDT",
  "INTJ": "UH",
  "NOUN": "NN NNS",
  "NUM": "CD",
  "PART": "POS TO",
  "PRON": "EX PRP PRP$ WP WP$",
  "PROPN": "NNP NNPS",
  "PUNCT": ". , : `` '' -LRB- -RRB- ( ) HYPH NFP",
  "SYM": "# $ SYM",
  "VERB": "VB VBD VBG VBN VBP VBZ",
}
_BY_PENN = {penn: universal for universal, tags in _UNIVERSAL.items() for penn in tags.split()}


def to_universal(tag: str) -> str:
  """The universal part of speech of a Penn tag; "X" if there is none."""
  return _BY_PENN.get(tag, "X")
