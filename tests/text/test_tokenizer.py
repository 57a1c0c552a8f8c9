"""Caption splitting, by hand, against the Stanford tokenizer, and as properties."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import zipfile

import hypothesis
import pytest
from hypothesis import strategies

from gcap_tf import errors
from gcap_tf.text import tokenizer

# Words as in captions, signs that rules look at, and some that they do not know.
CAPTION_TEXT = strategies.text(
  strategies.sampled_from(
    list("aAbnstmdrevl'.,:-–\"`!?;()[]{}#$%&*+<>=/@ 0159\t\n\xa0é’“”…😀👍🏽🇫🇷")
  )
  | strategies.characters(codec="utf-8", max_codepoint=0x2FFF),
  max_size=40,
)


@pytest.mark.parametrize(
  ("text", "words"),
  [
    ("A man in a blue shirt.", "a man in a blue shirt"),
    ("Two dogs, one cat; a bird: three!", "two dogs one cat a bird three"),
    ("A boy's t-shirt - red", "a boy 's t-shirt red"),
    ("The boys' dog doesn't bark, can't run.", "the boys dog does n't bark ca n't run"),
    (
      "They're sure we've won; she'll say I'm it'd",
      "they 're sure we 've won she 'll say i 'm it 'd",
    ),
    ('A sign reads "no (real) parking".', "a sign reads no real parking"),
    ("At 5:30 he paid 10,000 for 3.5 .", "at 5:30 he paid 10,000 for 3.5"),
    ("Mr. Smith of the U.S. army.", "mr. smith of the u.s. army"),
    ("Men cannot swim. They gonna...", "men can not swim they gon na"),
    ("It costs $5 or 10% , #1", "it costs $ 5 or 10 % # 1"),
    ("A man -- tall -- and 'happy'", "a man tall and happy"),
    ("I’m at ‘home’ — “now” …", "i 'm at home now"),
    ("rock 'n' roll in the '80s at 6 o'clock", "rock 'n' roll in the '80s at 6 o'clock"),
    ("Pizza😀 and 👍🏽🇫🇷", "pizza 😀 and 👍🏽 🇫🇷"),
    ("  ", ""),
    ("", ""),
    (". , ' - --", ""),
  ],
)
def test_caption_style_splits_as_coco_does_and_drops_punctuation(text, words):
  assert tokenizer.tokenize(text) == words.split()


@pytest.mark.parametrize(
  ("text", "words"),
  [
    ("A man in a blue shirt.", "a man in a blue shirt ."),
    ("Two dogs, one cat!", "two dogs , one cat !"),
    ("He doesn't. It's 5:30, can't", "he does n't . it 's 5:30 , ca n't"),
    ("Mr. Smith runs. He stops.", "mr. smith runs . he stops ."),
    ("He lives in the U.S.", "he lives in the u.s ."),
    ('A "big" (red) dog...', "a `` big '' ( red ) dog ..."),
    ("A boy's t-shirt -- red & 10%", "a boy 's t-shirt -- red & 10 %"),
    ("The boys' dog cannot run", "the boys ' dog can not run"),
    ("Ben and co., a man., who runs.", "ben and co. , a man. , who runs ."),
    ("a 'quoted' word", "a ' quoted ' word"),
  ],
)
def test_treebank_style_keeps_punctuation_as_nltk_does(text, words):
  assert tokenizer.tokenize(text, "treebank") == words.split()


def test_whitespace_style_only_splits_at_white_space():
  text = "A\tman,\u00a0his\u3000DOG."
  assert tokenizer.tokenize(text, "whitespace") == ["a", "man,", "his", "dog."]


def test_an_unknown_style_is_refused():
  with pytest.raises(errors.UserError, match="known: caption, treebank, whitespace"):
    tokenizer.tokenize("a", "poem")


@pytest.mark.parametrize("style", tokenizer.RULES)
@hypothesis.given(text=CAPTION_TEXT)
def test_words_hold_no_white_space_and_no_capital_ascii(style, text):
  for word in tokenizer.tokenize(text, style):
    assert word
    assert not re.search(r"[\sA-Z]", word)


@hypothesis.given(text=CAPTION_TEXT)
def test_caption_words_do_not_depend_on_their_neighbours(text):
  assert tokenizer.tokenize(text) == tokenizer._apply(text, "caption")


@hypothesis.given(text=CAPTION_TEXT)
def test_no_caption_word_is_a_punctuation_sign_of_coco(text):
  dropped = {"''", "``", "--", "...", *"'`()[]{}.?!,:-;"}
  assert not dropped & set(tokenizer.tokenize(text))


def _data() -> pathlib.Path:
  if "GCAP_DATA" not in os.environ:
    pytest.skip("GCAP_DATA does not name the folder of the datasets")
  return pathlib.Path(os.environ["GCAP_DATA"])


def _real_captions(data: pathlib.Path) -> list[str]:
  """Every caption of the small COCO sample, and those of every fifth Flickr30k picture."""
  coco = json.loads((data / "tiny_coco/annotations/captions_train2017.json").read_text())
  captions = [row["caption"].replace("\n", " ") for row in coco["annotations"]]
  with zipfile.ZipFile(data / "flickr30k_entities/annotations.zip") as archive:
    names = sorted(name for name in archive.namelist() if "Sentences/" in name)
    for name in names[::5]:
      text = archive.read(name).decode("utf-8")
      captions += re.sub(r"\[/EN#\d+\S* ([^\]]*)\]", r"\1", text).splitlines()
  return [caption for caption in captions if caption.strip()]


def test_caption_style_agrees_with_the_stanford_tokenizer_on_real_captions(tmp_path):
  captions = _real_captions(_data())
  if not shutil.which("java"):
    pytest.skip("the Stanford tokenizer needs Java")
  ptb = pytest.importorskip("pycocoevalcap.tokenizer.ptbtokenizer")
  (tmp_path / "captions.txt").write_text("\n".join(captions) + "\n", encoding="utf-8")
  jar = pathlib.Path(ptb.__file__).with_name(ptb.STANFORD_CORENLP_3_4_1_JAR)
  command = ["java", "-cp", str(jar), "edu.stanford.nlp.process.PTBTokenizer"]
  result = subprocess.run(
    [*command, "-preserveLines", "-lowerCase", str(tmp_path / "captions.txt")],
    capture_output=True,
    check=True,
    encoding="utf-8",
  )
  lines = result.stdout.split("\n")[: len(captions)]
  agree = sum(
    tokenizer.tokenize(caption) == [w for w in line.split() if w not in ptb.PUNCTUATIONS]
    for caption, line in zip(captions, lines, strict=True)
  )
  assert agree / len(captions) > 0.998
