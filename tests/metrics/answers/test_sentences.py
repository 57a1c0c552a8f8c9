import pytest

from gcap_tf.metrics.answers import sentences

NOUNS = {"dog", "dogs", "man", "shirt", "cow", "person", "umbrella"}
MODIFIERS = {"white", "big", "two"}


@pytest.mark.parametrize(
  ("caption", "faults"),
  [
    ("a man in a white shirt", ()),
    ("two dogs are running", ()),
    ("a man dressed in white", ()),
    ("", ("empty",)),
    ("two dogs are running in a dog", ("repeat",)),
    ("a a man", ("repeat",)),
    ("in a big in a big man", ("repeat",)),
    ("standing outside", ("no_noun",)),
    ("a man in a", ("cut_off",)),
    ("a man with", ("cut_off",)),
    ("a man in a white", ("cut_off",)),
    ("a man in a big white", ("cut_off",)),
    ("a person is cow", ("name_verb",)),
    ("a person is person in a person", ("repeat", "name_verb")),
  ],
)
def test_faults_are_those_of_the_module(caption, faults):
  assert sentences.faults(caption.split(), NOUNS, MODIFIERS) == faults


def test_shares_are_over_all_captions():
  captions = [c.split() for c in ("a man", "a dog in a", "a dog dog", "")]
  found = sentences.shares(captions, NOUNS, MODIFIERS)
  assert found["faulty"] == 0.75
  assert found["fault_repeat"] == found["fault_cut_off"] == found["fault_empty"] == 0.25
  assert sentences.shares([], NOUNS)["faulty"] == 0
