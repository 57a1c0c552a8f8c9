import io
import time

import numpy as np
import pytest
from PIL import Image

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.data.scenes import drawn_scenes, scene_words
from gcap_tf.text import object_words, tokenizer

CONFIG = drawn_scenes.SceneConfig(train=30, val=6, test=4, seed=11)


@pytest.fixture(scope="module")
def made():
  return list(drawn_scenes.generate(CONFIG))


def test_a_record_depends_on_seed_and_index_alone(made):
  again = drawn_scenes.record(CONFIG, 17)
  assert again.picture == made[17].picture
  assert [c.text for c in again.captions] == [c.text for c in made[17].captions]
  for mine, theirs in zip(again.annotated, made[17].annotated, strict=True):
    assert mine.label == theirs.label and np.array_equal(mine.box_px, theirs.box_px)


def test_another_seed_gives_other_pictures(made):
  other = drawn_scenes.record(drawn_scenes.SceneConfig(train=30, val=6, test=4, seed=12), 17)
  assert other.picture != made[17].picture


def test_adding_scenes_does_not_change_those_before(made):
  larger = drawn_scenes.SceneConfig(train=500, val=0, test=0, seed=11)
  assert drawn_scenes.record(larger, 3).picture == made[3].picture


def test_splits_have_their_sizes_and_ids_are_unique(made):
  assert [r.split for r in made] == ["train"] * 30 + ["val"] * 6 + ["test"] * 4
  assert len({r.image_id for r in made}) == 40
  assert len({c.caption_id for r in made for c in r.captions}) == 200


def test_pictures_decode_at_the_stated_size(made):
  for record in made:
    picture = Image.open(io.BytesIO(record.picture))
    assert picture.size == (record.width, record.height) == (320, 240)
    assert len(record.picture) < 40_000


def test_tokens_are_the_words_of_the_text(made):
  for caption in (c for r in made for c in r.captions):
    assert caption.text.lower().rstrip(".").split() == list(caption.tokens)
    assert len(caption.tags) == len(caption.tokens)


def test_tokenising_the_text_gives_the_tokens(made):
  for caption in (c for r in made for c in r.captions):
    assert tokenizer.tokenize(caption.text) == list(caption.tokens)


def test_object_names_are_what_the_class_list_finds_in_the_words(made):
  classes = object_words.ObjectClasses(drawn_scenes.class_names())
  for caption in (c for r in made for c in r.captions):
    for word in caption.objects:
      assert classes.of(caption.tokens[word.index]) == word.name


def test_every_noun_has_a_box_but_those_of_prepositions(made):
  for caption in (c for r in made for c in r.captions):
    nouns = {
      i
      for i, (word, tag) in enumerate(zip(caption.tokens, caption.tags, strict=True))
      if tag == "NOUN" and word not in scene_words.POSITION_NOUNS
    }
    assert nouns == {o.index for o in caption.objects}


def test_object_names_are_known_classes(made):
  names = set(drawn_scenes.class_names())
  assert {o.name for r in made for c in r.captions for o in c.objects} <= names
  assert names >= {"man", "dog", "bicycle", "bike", "hat", "beach", "people"}


def test_boxes_lie_inside_the_picture(made):
  for record in made:
    boxes = [a.box_px for a in record.annotated]
    boxes += [o.box_px for c in record.captions for o in c.objects]
    for x1, y1, x2, y2 in boxes:
      assert 0 <= x1 < x2 <= record.width and 0 <= y1 < y2 <= record.height


def test_phrases_end_in_the_object_word_and_share_its_box(made):
  for record in made:
    boxes = {a.entity: [] for a in record.annotated}
    for thing in record.annotated:
      boxes[thing.entity].append(thing.box_px)
    for caption in record.captions:
      for phrase, word in zip(caption.phrases, caption.objects, strict=True):
        assert phrase.end - 1 == word.index
        assert np.array_equal(word.box_px[:2], phrase.boxes_px[:, :2].min(0))
        assert np.array_equal(word.box_px[2:], phrase.boxes_px[:, 2:].max(0))
        if phrase.entity in boxes:
          assert any(np.array_equal(phrase.boxes_px[0], box) for box in boxes[phrase.entity])
        else:  # several people, or the whole picture
          assert "+" in phrase.entity or phrase.entity == "place.all"


def test_captions_of_a_picture_differ_and_leave_things_out(made):
  different = [len({c.text for c in r.captions}) for r in made]
  assert np.mean(different) > 4.5
  mentioned = np.mean([len(c.objects) for r in made for c in r.captions])
  assert mentioned < 0.5 * np.mean([len(r.annotated) for r in made])


def test_words_are_not_one_to_one_with_classes():
  config = drawn_scenes.SceneConfig(train=150, val=0, test=0, seed=5)
  words = {}
  for record in drawn_scenes.generate(config):
    labels = {a.entity: a.label for a in record.annotated}
    for caption in record.captions:
      for phrase, word in zip(caption.phrases, caption.objects, strict=True):
        words.setdefault(labels.get(phrase.entity), set()).add(word.name)
  assert words["boy"] == {"boy", "kid", "child"}
  assert words["dog"] == {"dog", "puppy"}
  assert words["bicycle"] == {"bicycle", "bike"}


def test_parts_and_colours_are_annotated():
  config = drawn_scenes.SceneConfig(train=60, val=0, test=0, seed=5)
  things = [a for r in drawn_scenes.generate(config) for a in r.annotated]
  labels = {a.label for a in things}
  assert {"head", "shirt", "jacket", "hat", "wheel", "sky"} <= labels
  assert all(a.attributes for a in things if a.label in ("shirt", "car", "dog"))


def test_thirty_scenes_take_less_than_a_second_and_a_half_of_processor_time():
  drawn_scenes.record(CONFIG, 0)
  start = time.process_time()
  for index in range(30):
    drawn_scenes.record(CONFIG, index)
  assert time.process_time() - start < 1.5


@pytest.mark.parametrize("index", [-1, 40])
def test_an_index_outside_is_an_error_that_names_the_last(index):
  with pytest.raises(errors.UserError, match="last is 39"):
    drawn_scenes.record(CONFIG, index)


def test_negative_counts_are_refused():
  with pytest.raises(errors.UserError, match=r"scenes\.val is -1; expected 0 or more"):
    configs.check(drawn_scenes.SceneConfig(val=-1), "scenes")
  with pytest.raises(errors.UserError, match=r"scenes\.captions is 0; expected 1 or more"):
    configs.check(drawn_scenes.SceneConfig(captions=0), "scenes")
