"""Tests of gcap_tf/data/stores/label_mapping.py."""

import logging

import pytest

from gcap_tf.data.stores import label_mapping

LABELS = ("ball", "man", "bike", "phone", "food", "dog", "sunglass", "glass", "t-shirt", "animal")


@pytest.fixture
def mapping():
  return label_mapping.LabelMapping(LABELS)


@pytest.mark.parametrize(
  ("name", "label"),
  [
    ("ball", "ball"),
    ("Ball", "ball"),
    ("men", "man"),
    ("balls", "ball"),
    ("sports ball", "ball"),
    ("Sports_Ball", "ball"),
    ("bicycle", "bike"),
    ("bicycles", "bike"),
    ("cell phone", "phone"),
    ("hot dog", "food"),
    ("guide dog", "dog"),
    ("snow-dog", "dog"),
    ("glasses", "sunglass"),
    ("wine glass", "glass"),
    ("T-Shirt", "t-shirt"),
    ("zebra", "animal"),
    ("mountain bike", "bike"),
    ("old bicycle", "bike"),
    ("sofa", None),
    ("", None),
    (" ", None),
  ],
)
def test_names_find_the_nearest_label(mapping, name, label):
  assert mapping.of(name) == label


def test_a_synonym_counts_only_where_the_run_knows_it():
  assert label_mapping.LabelMapping(["sofa"]).of("couch") == "sofa"
  assert label_mapping.LabelMapping(["couch"]).of("sofa") == "couch"
  assert label_mapping.LabelMapping(["dog"]).of("hot dog") == "dog"
  assert label_mapping.LabelMapping([]).of("couch") is None


def test_ids_are_zero_where_there_is_no_label(mapping):
  ids = {label: number for number, label in enumerate(LABELS, 1)}
  assert mapping.ids(["men", "sofa", "", "tennis ball"], ids) == [2, 0, 0, 1]


def test_known_names_agree_with_the_rules_and_hold_plurals(mapping):
  known = mapping.known(["player", "men", "puppies"])
  assert all(mapping.of(name) == label for name, label in known.items())
  for name in (*LABELS, "bicycles", "men", "cell phone", "mobile phones", "puppies", "footballs"):
    assert known.get(name) == mapping.of(name)
  assert "sofa" not in known


def test_unknown_names_are_logged_once_with_counts(mapping, caplog):
  with caplog.at_level(logging.WARNING, "absl"):
    label_mapping.report(mapping, ["sofa", "sofa", "dog", "lamp", ""])
    label_mapping.report(mapping, ["dog", ""])
  assert [record.getMessage() for record in caplog.records] == [
    "3 of 5 regions have a label that the run does not know, and count as unlabelled: "
    "sofa 2, lamp 1"
  ]
