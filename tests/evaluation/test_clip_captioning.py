import dataclasses

import numpy as np
import pytest
from PIL import Image

from gcap_tf import api, errors
from gcap_tf.data.prepared import clip_sources, pipeline
from gcap_tf.decoding import answers
from gcap_tf.decoding import config as decode_config
from gcap_tf.evaluation import captioner_evaluation, clip_captioning
from gcap_tf.runs import run_answers, run_folders
from gcap_tf.text import vocabulary as vocabularies
from tests.evaluation import clip_captioners
from tests.export import tiny_runs

DECODE = decode_config.DecodeConfig(max_length=6, unknown="suppress")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
  """The data, a run, and the frames of the first segment as a folder."""
  folder = tmp_path_factory.mktemp("clips")
  data = clip_captioners.prepare_videos(folder)
  clip = folder / "walk"
  clip.mkdir()
  for number, frame in enumerate(clip_sources.frames_of(data.split("train").record(0))):
    Image.fromarray(frame).save(clip / f"{number}.png")
  return data, run_folders.load(clip_captioners.write_run(folder, data)), clip


def test_a_clip_is_captioned_as_its_segment_is(made):
  """The frames of a file, and those of the prepared data, give one answer but for the position."""
  data, run, clip = made
  captioner = clip_captioning.ClipCaptioner(run, DECODE, run_answers.rules(run))
  found = captioner.caption(clip)
  split = data.split("train")
  batch = next(
    iter(
      pipeline.evaluation_batches(
        split,
        run.vocabulary,
        pipeline.BatchConfig(images=1, shuffle=False, cache_bytes=0),
        parts=("regions",),
      )
    )
  )
  position = np.array([[0, 1, 0, 1]], np.float32)  # A clip is a whole video.
  whole = np.concatenate([batch["global_feature"].numpy()[:, :-4], position], 1)
  (expected,) = captioner_evaluation.caption_batch(
    captioner._decode, run.vocabulary, dict(batch) | {"global_feature": whole}
  )
  assert found.answer.words == expected.words and len(found.answer.words)
  np.testing.assert_allclose(found.answer.frame_boxes_px, expected.frame_boxes_px, atol=0.01)
  assert found.answer.log_prob == pytest.approx(expected.log_prob, abs=1e-3)


def test_a_row_has_a_box_for_every_word_in_every_frame(made):
  _, run, clip = made
  answer = clip_captioning.ClipCaptioner(run, DECODE, run_answers.rules(run)).caption(clip)
  row = answer.row()
  assert row["image_id"] == "walk" and row["frames"] == list(range(10))
  boxes = np.array(row["box_frames"])
  assert boxes.shape == (len(row["words"]), 10, 4) and row["image_size"] == [320, 240]
  assert (boxes[..., 2:] > boxes[..., :2]).all() and (boxes <= [320, 240, 320, 240]).all()
  assert answer.strip().width > 10 * 150


def test_boxes_of_square_data_are_shares_of_the_width(made):
  data, run, clip = made
  regions = {**data.info["detector"], "square": True}
  square = dataclasses.replace(run, config={**run.config, "regions": regions})
  captioner = clip_captioning.ClipCaptioner(square, DECODE, run_answers.rules(run))
  answer = captioner.caption(clip)
  assert answer.answer.size == (320, 320)
  assert (np.array(answer.row()["box_frames"])[..., 3] <= 240).all()
  assert answer.boxes_01.max() <= 1


def test_a_captioner_of_pictures_is_refused(tmp_path):
  run = tiny_runs.captioner_run(tmp_path)
  with pytest.raises(errors.UserError, match="captions pictures, not videos"):
    clip_captioning.ClipCaptioner(run, DECODE)


def test_a_captioner_of_videos_does_not_take_photographs(made):
  _, run, _ = made
  with pytest.raises(errors.UserError, match=r"captions videos, not photographs: .*--video=CLIP"):
    api.load(run.folder)


def test_words_of_the_classes_name_things(made):
  """Pronouns are classes of videos, although the tagger does not take them for nouns."""
  _, run, _ = made
  words = ("", "he", "his", "runs", "dog", "UNK")
  run = dataclasses.replace(
    run,
    vocabulary=vocabularies.Vocabulary("captioner", words, ()),
    config={"object_classes": ["he", "cat"]},
  )
  assert clip_captioning.with_classes(answers.AnswerRules(things=(4,)), run).things == (1, 2, 4)
