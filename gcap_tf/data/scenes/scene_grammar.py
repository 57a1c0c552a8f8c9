"""Writes captions of drawn scenes from the facts of the picture.

Each caption states one or two of the scene's facts in one of several sentence forms, names
things by varying synonyms, and leaves others out. Every noun has the box of its object,
and every word has its part of speech.
"""

import dataclasses
from collections.abc import Sequence, Set
from typing import TypeVar

import numpy as np

from gcap_tf.data.scenes import scene_layout, scene_words

T = TypeVar("T")

NEXT_TO = ("next to", "next to", "beside", "near", "by")
PRONOUNS = {"man": "him", "boy": "him", "woman": "her", "girl": "her"}
NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
SPELLINGS = {"gray": ("gray", "grey"), "small": ("small", "little"), "large": ("large", "big")}
POSE_VERBS = {("horse", "run"): "gallop"}


@dataclasses.dataclass(frozen=True)
class Mention:
  """A noun phrase tokens[start:end] with its head noun, class lemma, entity and boxes."""

  start: int
  end: int
  head: int
  name: str
  entity: str
  kind: str
  boxes_px: np.ndarray


class Sentence:
  """Words so far, with tags and mentions."""

  def __init__(self, scene: scene_layout.Scene, rng: np.random.Generator):
    self.scene, self.rng = scene, rng
    self.tokens: list[str] = []
    self.tags: list[str] = []
    self.mentions: list[Mention] = []
    self.mentioned: set[int] = set()  # entities mentioned

  def choose(self, options: Sequence[T]) -> T:
    return options[int(self.rng.integers(len(options)))]

  def chance(self, probability: float) -> bool:
    return bool(self.rng.random() < probability)

  def add_words(self, words: str, first_tag: str = "") -> None:
    """Adds words; their tags are the lexicon's, `first_tag` overrides that of the first."""
    for position, word in enumerate(words.split()):
      self.tokens.append(word)
      tagged = first_tag and position == 0
      self.tags.append(first_tag if tagged else scene_words.TAGS[word])

  def noun_phrase(
    self, before: list[str], noun: str, name: str, entity: str, kind: str, boxes: np.ndarray
  ) -> None:
    """Adds determiner, adjectives and noun; "a" becomes "an" before a vowel."""
    start = len(self.tokens)
    words = [*before, noun]
    if words[0] == "a" and words[1][0] in "aeiou":
      words[0] = "an"
    for word in words[:-1]:
      self.add_words(word)
    self.add_words(noun, "NOUN")
    end = len(self.tokens)
    self.mentions.append(
      Mention(start, end, end - 1, name, entity, kind, np.asarray(boxes, np.float32).reshape(-1, 4))
    )

  def synonym(self, name: str) -> tuple[str, str]:
    forms = scene_words.NOUNS[name]
    weights = np.asarray([weight for _, _, weight in forms])
    singular, plural, _ = forms[int(self.rng.choice(len(forms), p=weights / weights.sum()))]
    return singular, plural

  def adjectives(self, color: str, size: str = "", often: float = 0.6) -> list[str]:
    words = []
    if size and self.chance(0.75):
      words.append(self.choose(SPELLINGS[size]))
    if color and self.chance(often):
      words.append(self.choose(SPELLINGS.get(color, (color,))))
    return words

  def entity(self, index: int, detail: bool = True) -> None:
    """Adds a noun phrase for an entity, sometimes with clothes or a coloured part."""
    entity = self.scene.entities[index]
    introduces = self.tokens[:1] == ["there"]
    before = ["the" if not introduces and self.chance(0.05) else "a"]
    if entity.name in ("boy", "girl") and self.chance(0.2):
      before.append(self.choose(("young", "little")))
    before += self.adjectives(entity.color, entity.size)
    singular, _ = self.synonym(entity.name)
    kind = scene_words.KINDS.get(entity.name, "other")
    self.noun_phrase(before, singular, singular, str(index), kind, entity.box_px)
    self.mentioned.add(index)
    if detail:
      self._parts(index, entity)

  def _parts(self, index: int, entity: scene_layout.Entity) -> None:
    boxes = dict(entity.part_boxes)
    seen = [p for p in entity.part_colors if p in boxes and p in scene_words.NOUNS]
    if not seen or not self.chance(0.45 if entity.name in scene_layout.PEOPLE else 0.2):
      return
    if len(seen) > 1 and self.chance(0.7):
      seen = [self.choose(seen)]
    if entity.name in scene_layout.PEOPLE:
      hat_only = seen[0] in ("hat", "cap", "helmet")
      self.add_words(self.choose(("wearing", "with") if hat_only else ("in", "wearing", "in")))
    else:
      self.add_words("with")
    for position, part in enumerate(seen):
      if position:
        self.add_words("and")
      singular, _ = self.synonym(part)
      before = ["a", *self.adjectives(entity.part_colors[part], often=0.85)]
      kind = scene_words.KINDS.get(part, "other")
      self.noun_phrase(before, singular, singular, f"{index}.{part}", kind, boxes[part])

  def place(self, options: Sequence[tuple[str, str, str, str]]) -> None:
    """Adds the place: a preposition and a visible part of it."""
    boxes = {
      "": np.asarray([0, 0, scene_layout.WIDTH, scene_layout.HEIGHT]),
      **self.scene.place_boxes,
    }
    options = [row for row in options if row[3] in boxes]
    if not options:
      return
    preposition, before, noun, part = self.choose(options)
    self.add_words(preposition)
    name = scene_words.LEMMAS.get(noun, noun)
    self.noun_phrase(before.split(), noun, name, f"place.{part or 'all'}", "scene", boxes[part])

  def here(self) -> None:
    self.place(scene_words.PLACES[self.scene.place.name])

  def verb(self, fact: scene_layout.Fact, form: str, plural: bool = False) -> None:
    """Adds the verb: "simple" (runs), "progressive" (is running) or "participle" (running)."""
    be = "are" if plural else "is"
    if fact.verb in ("park", "be"):
      if form != "participle":
        self.add_words(be)
      if fact.verb == "park":
        self.add_words("parked")
      return
    subject = self.scene.entities[fact.subject].name
    verb = POSE_VERBS.get((subject, fact.verb), fact.verb)
    if subject in scene_layout.PEOPLE and fact.object is None:
      verb = {"run": "jog", "walk": "stroll"}.get(verb, verb)
    one, many, ing = self.choose(scene_words.VERBS[verb])
    if form == "progressive":
      self.add_words(be)
    words = ing if form != "simple" else (many if plural else one)
    self.add_words(words, "VERB")

  def event(self, fact: scene_layout.Fact, form: str) -> None:
    """Adds a whole fact: subject, verb, object."""
    self.entity(fact.subject)
    self.action(fact, form)

  def action(self, fact: scene_layout.Fact, form: str, plural: bool = False) -> None:
    self.verb(fact, form, plural)
    if fact.object is not None:
      if fact.preposition:
        self.add_words(self.choose(NEXT_TO) if fact.preposition == "next to" else fact.preposition)
      self.entity(fact.object, detail=self.chance(0.3))
    elif fact.preposition:
      sky = fact.verb == "fly"
      self.place(scene_words.SKY if sky else scene_words.WATER)


def relation(a: scene_layout.Entity, b: scene_layout.Entity) -> str:
  """The position of a relative to b, "" if no natural expression fits."""
  up_a, up_b = a.depth < scene_layout.SKY_DEPTH, b.depth < scene_layout.SKY_DEPTH
  overlap = min(a.box_px[2], b.box_px[2]) - max(a.box_px[0], b.box_px[0])
  narrow = min(a.box_px[2] - a.box_px[0], b.box_px[2] - b.box_px[0])
  if up_a or up_b:
    above = up_a and not up_b and a.box_px[3] < b.box_px[1] + 4
    return "above" if above and overlap > 0.2 * narrow else ""
  if overlap > 0.4 * narrow:
    if a.depth - b.depth > 8:
      return "in front of"
    if b.depth - a.depth > 8:
      return "behind"
  if overlap > -36 and abs(a.depth - b.depth) < 26:
    return "next to"
  left = a.box_px[0] + a.box_px[2] < b.box_px[0] + b.box_px[2]
  return f"to the {'left' if left else 'right'} of"


class CaptionWriter:
  """Writes captions of one scene."""

  def __init__(self, scene: scene_layout.Scene, rng: np.random.Generator):
    self.scene, self.rng = scene, rng
    self.seen = [i for i, e in enumerate(scene.entities) if e.box_px is not None]
    self.facts = [
      f
      for f in scene.facts
      if f.subject in self.seen and (f.object is None or f.object in self.seen)
    ]
    weights = np.asarray([self._salience(fact) for fact in self.facts])
    self.weights = weights / weights.sum() if len(weights) else weights
    self.linked = {frozenset((f.subject, f.object)) for f in scene.facts}

  def _salience(self, fact: scene_layout.Fact) -> float:
    """Living things that do something come first, far things last."""
    name = self.scene.entities[fact.subject].name
    alive = (
      4.0
      if name in scene_layout.PEOPLE
      else 2.5
      if name in ("dog", "cat", "horse", "bird")
      else 0.5
    )
    return alive * (1.6 if fact.object is not None else 1.0)

  def pick(self, besides: Set[int] = frozenset()) -> scene_layout.Fact | None:
    """A fact, weighted by salience, that names no entity of `besides`."""
    free = [f.subject not in besides and f.object not in besides for f in self.facts]
    weights = self.weights * free
    if not weights.sum():
      return None
    return self.facts[int(self.rng.choice(len(self.facts), p=weights / weights.sum()))]

  def neighbour(self, index: int, besides: Set[int]) -> tuple[str, int] | None:
    """Another entity and the position of `index` relative to it."""
    options = []
    for other in self.seen:
      if other == index or other in besides or frozenset((index, other)) in self.linked:
        continue
      words = relation(self.scene.entities[index], self.scene.entities[other])
      if words:
        options.append((words, other))
    close = [o for o in options if not o[0].startswith("to the")]
    if close and self.rng.random() < 0.8:
      options = close
    return options[int(self.rng.integers(len(options)))] if options else None

  def caption(self) -> Sentence:
    fact = self.pick()
    forms = [self.event_caption] * 6 + [self.there_is_caption, self.place_first_caption]
    if len(self._crowd()) > 1:
      forms += [self.crowd_caption] * 2
    if fact is None:
      return self.empty_caption()
    return forms[int(self.rng.integers(len(forms)))](fact)

  def empty_caption(self) -> Sentence:
    sentence = Sentence(self.scene, self.rng)
    sentence.tokens, sentence.tags = ["there", "is"], ["PRON", "VERB"]
    part = self.scene.place.ground
    boxes = self.scene.place_boxes[part]
    sentence.noun_phrase(["an", "empty"], part, part, f"place.{part}", "scene", boxes)
    return sentence

  def event_caption(self, fact: scene_layout.Fact) -> Sentence:
    sentence = Sentence(self.scene, self.rng)
    form = sentence.choose(("simple", "simple", "progressive", "participle"))
    sentence.event(fact, form)
    self._tail(sentence, fact, form)
    return sentence

  def there_is_caption(self, fact: scene_layout.Fact) -> Sentence:
    sentence = Sentence(self.scene, self.rng)
    sentence.tokens, sentence.tags = ["there", "is"], ["PRON", "VERB"]
    sentence.event(fact, "participle")
    self._tail(sentence, fact, "participle")
    return sentence

  def place_first_caption(self, fact: scene_layout.Fact) -> Sentence:
    sentence = Sentence(self.scene, self.rng)
    if fact.object is None and fact.preposition:
      return self.event_caption(fact)  # boats and birds bring their own place
    sentence.here()
    sentence.event(fact, sentence.choose(("simple", "progressive")))
    return sentence

  def crowd_caption(self, fact: scene_layout.Fact) -> Sentence:
    """ "Two people run ..." about all people of the picture."""
    sentence = Sentence(self.scene, self.rng)
    crowd = self._crowd()
    names = {self.scene.entities[i].name for i in crowd}
    if len(names) == 1 and sentence.chance(0.8):
      singular, plural = sentence.synonym(next(iter(names)))
    elif names <= {"boy", "girl"}:
      singular, plural = sentence.choose((("child", "children"), ("kid", "kids")))
    else:
      singular, plural = "people", "people"
    if plural == "people":
      singular = "people"
    boxes = np.stack([self.scene.entities[i].box_px for i in crowd])
    entity = "+".join(map(str, crowd))
    sentence.noun_phrase([NUMBERS[len(crowd)]], plural, singular, entity, "people", boxes)
    sentence.mentioned.update(crowd)
    poses = {self.scene.entities[i].pose for i in crowd}
    form = sentence.choose(("simple", "progressive", "participle"))
    if len(poses) == 1 and poses & {"stand", "walk", "run", "wave"}:
      sentence.verb(scene_layout.Fact(crowd[0], poses.pop()), form, plural=True)
    elif form != "participle":
      sentence.add_words("are")
    sentence.here()
    return sentence

  def _crowd(self) -> list[int]:
    people = [i for i in self.seen if self.scene.entities[i].name in scene_layout.PEOPLE]
    return people if len(people) in NUMBERS else []

  def _tail(self, sentence: Sentence, fact: scene_layout.Fact, form: str) -> None:
    """Adds a neighbour, the place or a second event."""
    bare = fact.object is None and not fact.preposition
    beside = None if fact.preposition else self.neighbour(fact.subject, sentence.mentioned)
    other = self.pick(sentence.mentioned)
    roll = self.rng.random()
    if beside and roll < 0.35:
      self._place_beside(sentence, fact, beside)
      return
    if bare or (fact.object is not None and roll < 0.7):
      sentence.here()
    if other and roll > (0.7 if len(sentence.tokens) < 9 else 0.88):
      sentence.add_words("and" if form == "participle" else sentence.choose(("and", "while")))
      sentence.event(other, form)

  def _place_beside(
    self, sentence: Sentence, fact: scene_layout.Fact, beside: tuple[str, int]
  ) -> None:
    words, other = beside
    name = self.scene.entities[fact.subject].name
    if words in ("in front of", "next to") and fact.object is not None:
      # "a man holds a cup next to a dog" would not say who is next to the dog.
      sentence.add_words("with")
      sentence.entity(other, detail=False)
      sentence.add_words(
        "behind" if words == "in front of" else sentence.choose(("next to", "near"))
      )
      sentence.add_words(PRONOUNS.get(name, "it"))
      return
    sentence.add_words(sentence.choose(NEXT_TO) if words == "next to" else words)
    sentence.entity(other, detail=sentence.chance(0.3))
