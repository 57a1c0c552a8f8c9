"""Tagged sentences out of treebanks, weak supervision and hand tags."""

import json

import pytest

from gcap_tf import errors
from trainers.tagger import tagged

ROWS = [
  ("A", "DET", ""),
  ("T", "NOUN", "SpaceAfter=No"),
  ("-", "PUNCT", "SpaceAfter=No"),
  ("Shirt", "NOUN", "SpaceAfter=No"),
  (",", "PUNCT", ""),
  ("-", "PUNCT", ""),
  ("Red", "ADJ", "SpaceAfter=No"),
  (".", "PUNCT", ""),
]


@pytest.fixture
def treebank_path(tmp_path):
  lines = [
    f"{index}\t{form}\t{form}\t{tag}\t_\t_\t0\t_\t_\t{misc or '_'}"
    for index, (form, tag, misc) in enumerate(ROWS, 1)
  ]
  path = tmp_path / "en-ud-train.conllu"
  path.write_text("\n".join(lines) + "\n\n1\t!\t!\tPUNCT\t_\t_\t0\t_\t_\t_\n")
  return path


@pytest.fixture
def entities(tmp_path):
  folder = tmp_path / "entities"
  (folder / "Sentences").mkdir(parents=True)
  (folder / "Sentences/1.txt").write_text("[/EN#1/people A man] runs .\n")
  (folder / "Sentences/2.txt").write_text("x .\n[/EN#1/animals Two dogs] sleep .\n")
  return folder


def test_a_treebank_is_kept_as_distributed(treebank_path):
  first = tagged.treebank(treebank_path)[0]
  assert first.words == tuple(form for form, _, _ in ROWS)
  assert first.tags == tuple(tag for _, tag, _ in ROWS)


def test_a_treebank_spelt_as_captions_joins_hyphens_and_drops_punctuation(treebank_path):
  assert tagged.treebank_as_captions(treebank_path) == [
    tagged.Sentence(("a", "t-shirt", "red"), ("DET", "NOUN", "ADJ"))
  ]


def test_weak_supervision_leaves_held_out_pictures_out(entities):
  found = tagged.weakly_tagged(entities, [], held_out={"2"})
  assert [sentence.words for sentence in found] == [("a", "man", "runs")]
  assert found[0].tags[1] == "NOUN|PROPN"


def test_hand_tags_take_their_words_from_the_dataset(tmp_path, entities):
  (tmp_path / "tags.json").write_text(json.dumps([["2", 1, "MNV"]]))
  assert tagged.hand_tagged(tmp_path / "tags.json", entities) == [
    tagged.Sentence(("two", "dogs", "sleep"), ("NUM", "NOUN", "VERB"))
  ]
  assert tagged.held_out_pictures(tmp_path / "tags.json") == {"2"}


def test_hand_tags_of_another_length_are_refused(tmp_path, entities):
  (tmp_path / "tags.json").write_text(json.dumps([["2", 1, "MN"]]))
  with pytest.raises(errors.UserError, match="picture 2 has 3 words but 2 tags"):
    tagged.hand_tagged(tmp_path / "tags.json", entities)
