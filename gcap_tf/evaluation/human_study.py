"""A study in which people compare the regions of two captioners, word by word.

Cyclical (Ma et al., ECCV 2020, Sec. 4.5): for each groundable word of a sentence a rater sees one
region of each model, A and B in random order by sentence, and answers: A is better, B is better,
or they are about equal. Two raters see each picture.

    agreement: both gave the same answer; opposite: A against B; ambiguous: one of them "equal"

Words are those of two submissions in the official schema: if both hold given sentences, the
same word of the same sentence; else, the object classes that both generated captions name.
"""

import dataclasses
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from gcap_tf import errors
from gcap_tf.metrics import results_io

Answer = Literal["A", "B", "equal"]
ANSWERS: tuple[Answer, ...] = ("A", "B", "equal")
RATERS_OF_A_PICTURE = 2


@dataclasses.dataclass(frozen=True)
class Item:
  """A word to judge.

  Attributes:
    key: names it in answers.
    image_id: its picture.
    sentence: the words around it; () shows the word alone.
    index: its position in the sentence.
    word: the word.
    a, b: boxes x1, y1, x2, y2 from 0 to 1.
    first_is_a: whether the first model's region is A; raters do not see it.
    raters: numbers of the raters who judge it.
  """

  key: str
  image_id: str
  sentence: tuple[str, ...]
  index: int
  word: str
  a: tuple[float, ...]
  b: tuple[float, ...]
  first_is_a: bool
  raters: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Picture:
  """What the study needs of a picture: its size in pixels, and its captions' words."""

  width: int
  height: int
  captions: tuple[tuple[str, ...], ...]


def make_items(
  first: results_io.Submission,
  second: results_io.Submission,
  pictures: Mapping[str, Picture],
  images: int,
  raters: int,
  seed: int = 1,
) -> list[Item]:
  """Words of `images` random pictures, each picture for two of the raters.

  Args:
    first, second: the two models' submissions.
    pictures: image id -> what is known of it; others are left out.
    images: how many pictures; 0 takes all that have a word to compare.
    raters: how many people judge.
    seed: of the pictures and of the order of A and B.
  """
  if raters < RATERS_OF_A_PICTURE:
    raise errors.UserError(f"a picture needs {RATERS_OF_A_PICTURE} raters; {raters} were given")
  draw = random.Random(seed)
  given = first.eval_mode == second.eval_mode == "GT"
  pairs = _given_words if given else _common_words
  shared = sorted(set(first.results) & set(second.results) & set(pictures))
  found = {
    image: words
    for image in shared
    if (words := list(pairs(first.results[image], second.results[image], pictures[image])))
  }
  if not found:
    raise errors.UserError("the two submissions share no word of any picture; check their splits")
  chosen = sorted(draw.sample(sorted(found), min(images or len(found), len(found))))
  items = []
  for number, image in enumerate(chosen):
    scale = np.array([pictures[image].width, pictures[image].height] * 2, np.float64)
    own = tuple((RATERS_OF_A_PICTURE * number + n) % raters + 1 for n in range(RATERS_OF_A_PICTURE))
    orders: dict[int, bool] = {}
    for position, sentence, index, word, boxes in found[image]:
      if position not in orders:
        orders[position] = draw.random() < 0.5
      swap = orders[position]
      a, b = (_fractions(box, scale) for box in (boxes[::-1] if swap else boxes))
      key = f"{image}/{position}/{index}"
      items.append(Item(key, image, sentence, index, word, a, b, not swap, own))
  return items


def _fractions(box: np.ndarray, scale: np.ndarray) -> tuple[float, ...]:
  return tuple((np.asarray(box, np.float64) / scale).round(4).tolist())


def _given_words(first, second, picture: Picture) -> Iterable[tuple]:
  """The same word of the same given sentence."""
  for position, (one, other) in enumerate(zip(first, second, strict=False)):
    sentence = picture.captions[position] if position < len(picture.captions) else ()
    for row, index in enumerate(one.indices):
      if index in other.indices and index < len(sentence):
        boxes = [one.boxes_px[row], other.boxes_px[other.indices.index(index)]]
        yield position, sentence, index, sentence[index], boxes


def _common_words(first, second, picture: Picture) -> Iterable[tuple]:
  """Classes that both generated captions name; the first word of each counts."""
  del picture
  one, other = first[0], second[0]
  for row, name in enumerate(one.classes):
    if name in other.classes and one.classes.index(name) == row:
      boxes = [one.boxes_px[row], other.boxes_px[other.classes.index(name)]]
      yield 0, (), row, name, boxes


def check_answer(items: Mapping[str, Item], answer: Mapping[str, Any]) -> dict[str, Any]:
  """An answer of a rater as it is kept; a `UserError` if it is not one."""
  item = items.get(str(answer.get("item")))
  rater, choice = answer.get("rater"), answer.get("answer")
  if item is None or choice not in ANSWERS or rater not in item.raters:
    raise errors.UserError(
      f"no such answer: {dict(answer)}; expected an item of the study, one of its raters, and an "
      f"answer of {', '.join(ANSWERS)}"
    )
  return {"item": item.key, "rater": rater, "answer": choice}


@dataclasses.dataclass(frozen=True)
class Summary:
  """Shares of all ratings, and how far pairs of raters agree; fractions.

  Attributes:
    names: of the two models.
    equal, first, second: shares of ratings.
    ratings: how many there are; the last of a rater for a word counts.
    same, ambiguous, opposite: shares of the words that two raters judged.
    pairs: how many such words there are.
    asked: how many ratings the study asks for.
  """

  names: tuple[str, str]
  equal: float
  first: float
  second: float
  ratings: int
  same: float
  ambiguous: float
  opposite: float
  pairs: int
  asked: int

  def text(self) -> str:
    """The table of the paper (Table 5), and the agreement of raters."""
    rows = [
      ("About equal", self.equal),
      (f"{self.second_name} is better", self.second),
      (f"{self.names[0]} is better", self.first),
    ]
    lines = ["| | % |", "|---|---|", *(f"| {name} | {100 * share:.1f} |" for name, share in rows)]
    return "\n".join([
      *lines,
      "",
      f"{self.ratings:,} of {self.asked:,} ratings. Of {self.pairs:,} words with two ratings, "
      f"{100 * self.same:.1f} % are the same, {100 * self.opposite:.1f} % opposite, "
      f"{100 * self.ambiguous:.1f} % ambiguous.",
    ])  # fmt: skip

  @property
  def second_name(self) -> str:
    return self.names[1]


def summarise(
  items: Sequence[Item], answers: Iterable[Mapping[str, Any]], names: tuple[str, str]
) -> Summary:
  """Counts answers; a later answer of a rater for a word replaces the earlier one."""
  known = {item.key: item for item in items}
  kept: dict[str, dict[int, Answer]] = {}
  for answer in answers:
    found = check_answer(known, answer)
    kept.setdefault(found["item"], {})[found["rater"]] = found["answer"]
  votes = [(known[key], choice) for key, own in kept.items() for choice in own.values()]
  total = max(len(votes), 1)
  for_first = sum(
    choice != "equal" and (choice == "A") == item.first_is_a for item, choice in votes
  )
  equal = sum(choice == "equal" for _, choice in votes)
  pairs = [set(own.values()) for own in kept.values() if len(own) == RATERS_OF_A_PICTURE]
  counted = max(len(pairs), 1)
  return Summary(
    names,
    equal / total,
    for_first / total,
    (len(votes) - equal - for_first) / total,
    len(votes),
    same=sum(len(pair) == 1 for pair in pairs) / counted,
    ambiguous=sum(len(pair) == 2 and "equal" in pair for pair in pairs) / counted,
    opposite=sum(pair == {"A", "B"} for pair in pairs) / counted,
    pairs=len(pairs),
    asked=sum(len(item.raters) for item in items),
  )
