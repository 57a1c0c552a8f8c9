"""Treebank files: words, what is left out, and files that are not treebanks."""

import lzma

import pytest

from gcap_tf import errors
from trainers.tagger import conllu

TEXT = """\
# text = It's dont.
1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_
1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\tSpaceAfter=No
2\t's\tbe\tAUX\tVBZ\t_\t0\troot\t_\t_
2.1\tgone\tgo\tVERB\t_\t_\t_\t_\t_\t_
3\tdont\tnot\tPART\tRB\tTypo=Yes\t2\tadvmod\t_\t_

1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t0\troot\t_\t_
"""


@pytest.mark.parametrize("suffix", ["", ".xz"])
def test_sentences_hold_syntactic_words_only(tmp_path, suffix):
  path = tmp_path / f"en-ud-dev.conllu{suffix}"
  path.write_bytes(lzma.compress(TEXT.encode()) if suffix else TEXT.encode())
  first, second = conllu.read(path)
  assert [token.form for token in first] == ["It", "'s", "dont"]
  assert [token.tag for token in first] == ["PRON", "AUX", "PART"]
  assert [token.glued for token in first] == [True, False, False]
  assert [token.typo for token in first] == [False, False, True]
  assert second == [conllu.Token("Dogs", "dog", "NOUN", False, False)]


def test_a_line_with_too_few_columns_is_named(tmp_path):
  (tmp_path / "x.conllu").write_text("# ok\n1\tDogs\tdog\n")
  with pytest.raises(errors.UserError, match=r"x\.conllu:2: 3 columns"):
    list(conllu.read(tmp_path / "x.conllu"))


def test_the_part_of_a_treebank_is_found_or_an_error_names_it(tmp_path):
  (tmp_path / "en_ewt-ud-train.conllu.xz").touch()
  assert conllu.find(tmp_path, "train").name == "en_ewt-ud-train.conllu.xz"
  with pytest.raises(errors.UserError, match="holds no"):
    conllu.find(tmp_path, "dev")
