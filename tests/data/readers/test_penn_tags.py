from gcap_tf.data.readers import penn_tags


def test_the_nouns_of_pos_scan_are_nouns_and_names():
  tags = [penn_tags.to_universal(tag) for tag in ("NN", "NNS", "NNP", "NNPS")]
  assert tags == ["NOUN", "NOUN", "PROPN", "PROPN"]


def test_other_words_keep_their_kind():
  tags = [penn_tags.to_universal(tag) for tag in ("VBG", "JJ", "DT", "IN", ".")]
  assert tags == ["VERB", "ADJ", "DET", "ADP", "PUNCT"]


def test_an_unknown_tag_is_x():
  assert penn_tags.to_universal("NOPE") == "X"
