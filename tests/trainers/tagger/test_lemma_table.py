"""The table of lemmas keeps what rules miss, and nothing else."""

from trainers.tagger import conllu, lemma_table


def _sentence(*rows: tuple[str, str, str]) -> list[conllu.Token]:
  return [conllu.Token(form, lemma, tag, False, False) for form, lemma, tag in rows]


def test_the_most_frequent_lemma_of_a_form_wins():
  saw = _sentence(("Saw", "see", "VERB"), ("saw", "see", "VERB"), ("saw", "saw", "VERB"))
  assert lemma_table.majority([saw])["saw", "VERB"] == "see"


def test_rare_and_misspelt_forms_are_left_out():
  typo = [conllu.Token("teh", "thing", "NOUN", False, True)] * 9
  assert lemma_table.majority([_sentence(("ran", "run", "VERB")), typo]) == {}


def test_only_what_rules_get_wrong_is_kept():
  rows = {
    ("dogs", "NOUN"): "dog",
    ("analyses", "NOUN"): "analysis",
    ("supplies", "NOUN"): "supplies",
    ("went", "VERB"): "go",
    ("walked", "VERB"): "walk",
  }
  assert lemma_table.exceptions(rows) == {
    ("analyses", "NOUN"): "analysis",
    ("went", "VERB"): "go",
  }


def test_the_file_is_sorted_and_tab_separated(tmp_path):
  lemma_table.write({("went", "VERB"): "go", ("best", "ADJ"): "good"}, tmp_path / "t.tsv")
  assert (tmp_path / "t.tsv").read_text() == "best\tADJ\tgood\nwent\tVERB\tgo\n"
