"""The words of drawn scenes: synonyms, verb forms, places and part-of-speech tags.

Word choice is not one to one with the painted classes: a boy is also a kid or a child, a
bicycle a bike. That keeps captioners from reading class labels off regions.
"""

# class -> ((singular, plural, weight), ...)
NOUNS: dict[str, tuple[tuple[str, str, float], ...]] = {
  "man": (("man", "men", 6), ("guy", "guys", 2), ("person", "people", 1)),
  "woman": (("woman", "women", 6), ("lady", "ladies", 2), ("person", "people", 1)),
  "boy": (("boy", "boys", 5), ("kid", "kids", 2), ("child", "children", 2)),
  "girl": (("girl", "girls", 5), ("kid", "kids", 1.5), ("child", "children", 2)),
  "dog": (("dog", "dogs", 7), ("puppy", "puppies", 2)),
  "cat": (("cat", "cats", 7), ("kitten", "kittens", 2)),
  "horse": (("horse", "horses", 8), ("pony", "ponies", 1)),
  "bird": (("bird", "birds", 1),),
  "house": (("house", "houses", 6), ("home", "homes", 1), ("cottage", "cottages", 1)),
  "tree": (("tree", "trees", 1),),
  "pine": (("tree", "trees", 2), ("pine", "pines", 1)),
  "ball": (("ball", "balls", 1),),
  "car": (("car", "cars", 6), ("vehicle", "vehicles", 1)),
  "boat": (("boat", "boats", 3), ("sailboat", "sailboats", 2)),
  "kite": (("kite", "kites", 1),),
  "umbrella": (("umbrella", "umbrellas", 1),),
  "bench": (("bench", "benches", 1),),
  "bicycle": (("bicycle", "bicycles", 2), ("bike", "bikes", 3)),
  "table": (("table", "tables", 5), ("desk", "desks", 1)),
  "chair": (("chair", "chairs", 5), ("seat", "seats", 1)),
  "sofa": (("sofa", "sofas", 2), ("couch", "couches", 3)),
  "cup": (("cup", "cups", 2), ("mug", "mugs", 1)),
  "flower": (("flower", "flowers", 1),),
  "sun": (("sun", "suns", 1),),
  "snowman": (("snowman", "snowmen", 1),),
  "lamp": (("lamp", "lamps", 1),),
  "balloon": (("balloon", "balloons", 1),),
  "sandcastle": (("sandcastle", "sandcastles", 1),),
  "shirt": (("shirt", "shirts", 4), ("t-shirt", "t-shirts", 1)),
  "jacket": (("jacket", "jackets", 3), ("coat", "coats", 1)),
  "dress": (("dress", "dresses", 1),),
  "hat": (("hat", "hats", 1),),
  "cap": (("cap", "caps", 3), ("hat", "hats", 1)),
  "helmet": (("helmet", "helmets", 1),),
  "roof": (("roof", "roofs", 1),),
  "sail": (("sail", "sails", 1),),
  "scarf": (("scarf", "scarves", 1),),
  "flag": (("flag", "flags", 1),),
}

KINDS: dict[str, str] = {
  **dict.fromkeys(("man", "woman", "boy", "girl"), "people"),
  **dict.fromkeys(("dog", "cat", "horse", "bird"), "animals"),
  **dict.fromkeys(("car", "boat", "bicycle"), "vehicles"),
  **dict.fromkeys(("shirt", "jacket", "dress", "hat", "cap", "helmet", "scarf"), "clothing"),
}  # what is not listed is "other"

# verb -> ((he ..., they ..., -ing), ...)
VERBS: dict[str, tuple[tuple[str, str, str], ...]] = {
  "stand": (("stands", "stand", "standing"),),
  "walk": (("walks", "walk", "walking"),),
  "stroll": (("walks", "walk", "walking"), ("strolls", "stroll", "strolling")),
  "run": (("runs", "run", "running"), ("runs", "run", "running"), ("races", "race", "racing")),
  "jog": (("runs", "run", "running"), ("jogs", "jog", "jogging")),
  "gallop": (("runs", "run", "running"), ("gallops", "gallop", "galloping")),
  "wave": (("waves", "wave", "waving"),),
  "sit": (("sits", "sit", "sitting"), ("sits", "sit", "sitting"), ("rests", "rest", "resting")),
  "perch": (("sits", "sit", "sitting"), ("perches", "perch", "perching")),
  "hold": (("holds", "hold", "holding"), ("carries", "carry", "carrying")),
  "fly": (("flies", "fly", "flying"),),
  "ride": (("rides", "ride", "riding"),),
  "chase": (("chases", "chase", "chasing"),),
  "play with": (("plays with", "play with", "playing with"),),
  "kick": (("kicks", "kick", "kicking"),),
  "build": (("builds", "build", "building"), ("makes", "make", "making")),
  "lie": (("lies", "lie", "lying"),),
  "sail": (("sails", "sail", "sailing"),),
  "float": (("floats", "float", "floating"),),
}

# place -> ((preposition, determiner and adjectives, noun, part of the place), ...); the part
# "" is the whole picture.
PLACES: dict[str, tuple[tuple[str, str, str, str], ...]] = {
  "meadow": (
    ("in", "a", "field", "field"),
    ("in", "a green", "field", "field"),
    ("in", "a grassy", "field", "field"),
    ("in", "a", "meadow", "field"),
    ("on", "the", "grass", "field"),
    ("on", "the green", "grass", "field"),
  ),
  "beach": (
    ("on", "the", "beach", "beach"),
    ("at", "the", "beach", "beach"),
    ("on", "a sandy", "beach", "beach"),
    ("on", "the", "sand", "beach"),
    ("by", "the", "sea", "sea"),
    ("near", "the", "ocean", "sea"),
  ),
  "street": (
    ("on", "the", "street", "street"),
    ("on", "a", "street", "street"),
    ("in", "the", "street", "street"),
    ("on", "the", "road", "street"),
    ("near", "tall", "buildings", "building"),
  ),
  "room": (
    ("in", "a", "room", ""),
    ("inside", "a", "room", ""),
    ("on", "the", "floor", "floor"),
    ("on", "the wooden", "floor", "floor"),
  ),
  "snow": (
    ("in", "the", "snow", "snow"),
    ("on", "the", "snow", "snow"),
    ("on", "the white", "snow", "snow"),
    ("near", "the", "mountains", "mountain"),
  ),
}
WATER = (("on", "the", "sea", "sea"), ("on", "the", "ocean", "sea"), ("on", "the", "water", "sea"))
SKY = (
  ("in", "the", "sky", "sky"),
  ("in", "the blue", "sky", "sky"),
  ("across", "the", "sky", "sky"),
)

LEMMAS = {"buildings": "building", "mountains": "mountain"}

# Nouns of prepositions ("in front of"); they name no object and have no box.
POSITION_NOUNS = ("front", "left", "right")

TAGS: dict[str, str] = {
  **dict.fromkeys(("a", "an", "the"), "DET"),
  **dict.fromkeys(
    ("in", "on", "at", "by", "near", "inside", "across", "with", "to", "of", "behind", "beside",
     "under", "above"),
    "ADP",
  ),
  **dict.fromkeys(POSITION_NOUNS, "NOUN"),
  **dict.fromkeys(("him", "her", "it", "there"), "PRON"),
  **dict.fromkeys(("is", "are"), "AUX"),
  **dict.fromkeys(("two", "three", "four", "five", "six"), "NUM"),
  **dict.fromkeys(
    ("red", "blue", "green", "yellow", "orange", "purple", "pink", "brown", "black", "white",
     "gray", "grey", "tan", "small", "little", "large", "big", "young", "grassy", "sandy", "wooden",
     "tall", "empty"),
    "ADJ",
  ),
  "and": "CCONJ",
  "while": "SCONJ",
  "next": "ADV",
  "parked": "VERB",
  "wearing": "VERB",
}  # fmt: skip


def class_names() -> list[str]:
  """Every noun lemma that can name an object in a caption, sorted."""
  names = {singular for forms in NOUNS.values() for singular, _, _ in forms}
  places = [row for rows in (*PLACES.values(), WATER, SKY) for row in rows]
  names.update(LEMMAS.get(noun, noun) for _, _, noun, _ in places)
  return sorted({*names, "people"})
