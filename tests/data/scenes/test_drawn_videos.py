import dataclasses
import io

import numpy as np
import pytest
from PIL import Image

from gcap_tf.data import validation
from gcap_tf.data.readers import datasets
from gcap_tf.data.scenes import drawn_scenes, drawn_videos

CONFIG = drawn_scenes.SceneConfig(train=31, val=4, test=2, video=True, annotated_frames=10)


@pytest.fixture(scope="module")
def made():
  return [drawn_videos.record(CONFIG, "train", n, CONFIG.train) for n in range(CONFIG.train)]


def test_records_are_sound_segments_of_ten_frames(made):
  for record in made:
    validation.check_record(record, "made")
    assert record.frames == 10
    assert Image.open(io.BytesIO(record.picture)).size == (3200, 240)


def test_two_segments_make_a_video_and_the_last_may_be_alone(made):
  assert made[0].segment.video == made[1].segment.video != made[2].segment.video
  assert [record.segment.count for record in made[-2:]] == [2, 1]
  assert made[1].segment.start == made[0].segment.end


def test_a_record_depends_on_seed_and_place_alone(made):
  again = drawn_videos.record(CONFIG, "train", 9, CONFIG.train)
  assert again.picture == made[9].picture and again.captions[0].text == made[9].captions[0].text
  other = drawn_videos.record(CONFIG, "val", 0, CONFIG.val)
  assert other.picture != made[0].picture


def test_words_have_boxes_in_the_frames_in_which_they_are_seen(made):
  moved = 0
  for record in made:
    for word in record.captions[0].objects:
      frames = [box.frame for box in word.frame_boxes]
      assert frames == sorted(set(frames)) and frames
      seen = {(thing.frame, tuple(thing.box_px)) for thing in record.annotated}
      assert all((box.frame, tuple(box.box_px)) in seen for box in word.frame_boxes)
      moved += len({tuple(box.box_px) for box in word.frame_boxes}) > 1
  assert moved > len(made) / 2
  hidden = [len(word.frame_boxes) < 10 for r in made for word in r.captions[0].objects]
  assert any(hidden)


def test_a_word_is_annotated_in_one_frame_as_in_activitynet(made):
  config = dataclasses.replace(CONFIG, annotated_frames=1)
  one = drawn_videos.record(config, "train", 0, 31)
  assert one.captions[0].tokens and one.picture == made[0].picture
  assert all(len(word.frame_boxes) == 1 for word in one.captions[0].objects)
  assert len(one.annotated) == len(made[0].annotated)


def test_the_person_of_the_first_segment_is_a_pronoun_in_the_second(made):
  for record in made:
    first = record.captions[0].objects[0].name
    assert (first in ("he", "she")) == (record.segment.number == 1)


def test_a_person_looks_the_same_in_every_frame(made):
  """Colours of clothes do not change: the words of part boxes are those of the first frame."""
  for record in made[:6]:
    clothes = {
      (thing.label, thing.attributes)
      for thing in record.annotated
      if thing.label in ("shirt", "jacket", "dress")
    }
    assert len(clothes) <= 1


def test_every_class_is_listed_and_words_are_tagged(made):
  names = set(drawn_videos.class_names())
  for record in made:
    caption = record.captions[0]
    assert {word.name for word in caption.objects} <= names
    assert len(caption.tags) == len(caption.tokens)


def test_the_reader_numbers_segments_of_all_splits():
  reader = datasets.SceneReader(CONFIG)
  assert reader.splits == ("train", "val", "test")
  last = reader.image_ids("test")[-1]
  assert reader.record(last, "test").image_id == "v_scene1_test_00000_segment_01"


def test_a_strip_has_its_frames_side_by_side():
  frames = [Image.new("RGB", (4, 3), color) for color in ("red", "blue")]
  pixels = np.asarray(drawn_videos.strip(frames))
  assert pixels.shape == (3, 8, 3) and pixels[0, 5].tolist() == [0, 0, 255]
