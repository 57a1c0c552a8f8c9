"""Words whose lemma no rule finds, and the exceptions to the rules of `lemmas`."""


def _words(text: str) -> frozenset[str]:
  return frozenset(text.split())


# Nouns that look like plurals and are their own lemma.
UNCHANGED_NOUNS = _words(
  """
  acrobatics alias athletics atlas bass belongings biceps billiards binoculars blues bourgeois
  breeches briefs canvas chassis checkers christmas clothes contents corps crossbones crossroads
  debris dungarees electronics fries gallows gas goggles goods gras grounds gymnastics handcuffs
  handlebars headquarters iris jeans kansas las leggings lens mathematics means mercedes news
  olympics outdoors overalls pajamas pancreas panties pants papers pelvis people physics pliers
  politics precious pyjamas pyrotechnics respects rights scissors seconds series shades shallows
  shorts slacks species spectacles splits suds supplies surroundings suspenders teens texas thanks
  themselves thermos tights travels trellis troops trousers tweezers underpants upstairs vegas
  wares whites writings
  """
)
NOUNS = {
  "ads": "ad",
  "axes": "axe",
  "cds": "cd",
  "ids": "id",
  "tvs": "tv",
  "ups": "up",
  "alumnae": "alumna",
  "alumni": "alumnus",
  "bacteria": "bacterium",
  "brethren": "brother",
  "busses": "bus",
  "cacti": "cactus",
  "children": "child",
  "criteria": "criterion",
  "data": "datum",
  "feet": "foot",
  "foci": "focus",
  "fungi": "fungus",
  "geese": "goose",
  "graffiti": "graffitus",
  "hippopotami": "hippopotamus",
  "larvae": "larva",
  "lives": "life",
  "lice": "louse",
  "mans": "man",
  "mice": "mouse",
  "octopi": "octopus",
  "oxen": "ox",
  "phenomena": "phenomenon",
  "quizzes": "quiz",
  "stimuli": "stimulus",
  "teeth": "tooth",
  "thieves": "thief",
  "womens": "woman",
}
# Endings that a compound keeps: "firemen", "grandchildren", "barefeet", "bookshelves".
NOUN_ENDINGS = (
  ("children", "child"),
  ("wolves", "wolf"),
  ("knives", "knife"),
  ("wives", "wife"),
  ("shelves", "shelf"),
  ("scarves", "scarf"),
  ("halves", "half"),
  ("calves", "calf"),
  ("loaves", "loaf"),
  ("leaves", "leaf"),
  ("hooves", "hoof"),
  ("elves", "elf"),
  ("wharves", "wharf"),
  ("dwarves", "dwarf"),
  ("teeth", "tooth"),
  ("geese", "goose"),
  ("men", "man"),
)
NOT_PLURAL_IN_MEN = _words(
  "abdomen acumen amen bitumen hymen lumen omen ramen regimen semen specimen stamen yemen"
)
# Plurals of words in -i; other words in -is are singular ("tennis", "iris").
PLURALS_IN_IS = _words(
  """
  bikinis bonsais broccolis capris ferraris hibachis iraqis israelis jacuzzis khakis kiwis leis
  martinis origamis paninis rabbis safaris salamis saris skis sushis taxis tsunamis wasabis
  waterskis yetis yogis zucchinis
  """
)
# Plurals of words in -u; other words in -us are singular ("bus", "cactus").
PLURALS_IN_US = _words("bayous caribous emus gnus gurus haikus menus thous tofus tutus")
PLURALS_IN_USES = _words("abuses excuses fuses muses ruses uses recluses")
LOSE_ONLY_S = _words(  # -ies, -oes and -ches whose singular ends in e
  """
  aches avalanches backaches caches headaches moustaches mustaches niches quiches stomachaches
  toothaches
  aloes canoes does floes foes hoes horseshoes oboes shoes snowshoes tiptoes toes woes
  aussies barbies beanies birdies bookies bowties brownies budgies calories collies cookies cuties
  dies doggies eyries foodies genies goalies groupies hippies hogties hoodies indies junkies lies
  magpies menageries movies neckties newbies oldies pies pixies prairies rookies
  selfies smoothies sweeties talkies ties townies veggies walkies zombies
  """
)
PRONOUNS = {
  "her": "she",
  "hers": "hers",
  "him": "he",
  "me": "i",
  "them": "they",
  "this": "this",
  "us": "we",
}
VERBS = {
  form: verb
  for verb, forms in {
    "be": "am are been is was were",
    "bend": "bent",
    "bite": "bit bitten",
    "cling": "clung",
    "creep": "crept",
    "dig": "dug",
    "do": "did does done",
    "fight": "fought",
    "flee": "fled",
    "have": "had has",
    "hide": "hid hidden",
    "kneel": "knelt",
    "leap": "leapt",
    "light": "lit",
    "ride": "ridden rode",
    "shake": "shaken shook",
    "sing": "sang sung",
    "slide": "slid",
    "speed": "sped",
    "spin": "spun",
    "steal": "stole stolen",
    "sweep": "swept",
    "swim": "swam swum",
    "swing": "swung",
    "tear": "tore torn",
    "wear": "wore worn",
    "weave": "wove woven",
  }.items()
  for form in forms.split()
}
STEMS_THAT_LOST_E = (
  "dg",
  "ang",
  "rg",
  "rs",
  "ns",
  "bl",
  "gl",
  "dl",
  "tl",
  "kl",
  "pl",
  "cl",
  "oung",
  "creat",
  "iat",
  "uat",
)
STEMS_IN_VOWEL_THAT_LOST_E = tuple(
  sorted(_words("ad ag am as at clar id in ir is od os ot par plor stor ud ul um un ur us ut ys"))
)
