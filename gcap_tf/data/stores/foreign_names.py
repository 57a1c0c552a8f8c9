"""The names that a detector of COCO's 80 classes would give to the things of a run.

A COCO detector calls a man and a girl "person", has one name for every ball, and does not see
shirts or streets. `coco_labels` maps each label of a run to the label that it reads for COCO's name
of the thing, so that training and evaluation can try such a detector without its boxes.
"""

from collections.abc import Sequence

from gcap_tf.data.stores import coco_categories, label_mapping
from gcap_tf.text import lemmas

_PEOPLE = """
person people man woman boy girl child kid baby toddler infant guy lady gentleman male female
adult teenager teen youth couple family crowd group audience player athlete runner swimmer surfer
skier skater skateboarder snowboarder cyclist biker bicyclist rider climber hiker dancer singer
musician guitarist drummer performer artist painter worker fireman firefighter policeman officer
soldier chef cook waiter waitress doctor nurse teacher student bride groom friend mother father
son daughter brother sister goalie catcher batter pitcher referee umpire cheerleader cowboy clown
vendor customer spectator pedestrian passenger driver fisherman farmer team band
"""
_PERSON = "person"


def coco_names(labels: Sequence[str]) -> list[str | None]:
  """COCO's name of each label; None for what its detectors do not see."""
  people = frozenset(_PEOPLE.split())
  mapping = label_mapping.LabelMapping(coco_categories.NAMES.values())
  return [_PERSON if lemmas.lemma(label) in people else mapping.of(label) for label in labels]


def coco_labels(labels: Sequence[str]) -> list[int]:
  """Position of the label that a run reads for COCO's name of each label; -1 for none."""
  own = label_mapping.LabelMapping(labels)
  positions = {label: position for position, label in enumerate(labels)}
  found = [own.of(name) if name else None for name in coco_names(labels)]
  return [-1 if label is None else positions[label] for label in found]
