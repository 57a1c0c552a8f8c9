import json

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data.prepared import prepare
from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.data.stores import simulated_detector
from gcap_tf.decoding import config as decode_config
from gcap_tf.evaluation import captioner_evaluation, captioner_report, video_grounding
from gcap_tf.metrics import score_files
from gcap_tf.metrics.activitynet import anet_io
from gcap_tf.runs import run_folders
from gcap_tf.training import captioner_model
from tests.data import make_records, make_videos

OPTIONS = {
  **{"embedding_size": 6, "hidden_size": 8, "attention_size": 5, "region_size": 7},
  **{"location_size": 4, "frame_parts": [make_videos.APPEARANCE, make_videos.MOTION]},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
  folder = tmp_path_factory.mktemp("videos")
  make_videos.write(folder / "raw")
  config = prepare.PrepareConfig(
    "activitynet_entities",
    source=str(folder / "raw"),
    regions=str(make_videos.write_store(folder / "store")),
  )
  return prepare.prepare(config, folder / "out", workers=1)


def run_of(data, folder, name="cyclical"):
  options = captioner_model.CaptionerOptions(name, OPTIONS, min_count=1)
  vocabulary = captioner_model.build_vocabulary(data, options)
  config = captioner_model.model_config(data, vocabulary, options)
  model = run_folders.make_model("captioner", name, config)
  return run_folders.Run(folder, "captioner", name, model, vocabulary, {})


def test_sizes_follow_from_the_videos(data, tmp_path):
  config = run_of(data, tmp_path).model.config
  assert (config.num_frames, config.frame_layers, config.segment_size) == (10, 2, 50)
  assert config.global_size == make_videos.APPEARANCE + make_videos.MOTION + 4
  assert run_of(data, tmp_path, "gvd").model.num_frames == 10


@pytest.mark.parametrize("name", ["gvd", "distributed", "cyclical"])
def test_a_report_scores_what_its_submissions_score(data, tmp_path, name):
  run, split = run_of(data, tmp_path, name), data.split("train")
  paths = {"gen": tmp_path / "gen.json", "GT": tmp_path / "gt.json"}
  config = captioner_report.ReportConfig(
    decode=decode_config.DecodeConfig(max_length=6),
    metrics=("cider",),
    grounding_path=str(paths["gen"]),
    given_path=str(paths["GT"]),
    statistics=True,
  )
  report = captioner_report.evaluate(run, split, config)
  assert ("localizer_accuracy" in report.values) == (name == "cyclical")
  assert "cider" in report.values
  # The sums over segments are the figures of all, so that claims can be bootstrapped.
  assert {"cider", "f1_all", "f1_loc", "error_partial", "attention_accuracy"} <= {
    *report.statistics
  }
  for key, statistic in report.statistics.items():
    assert statistic.value == pytest.approx(report.values[key], abs=1e-4), key
  for mode, path in paths.items():
    scored = score_files.score(
      score_files.ScoreConfig(predictions=path, references=data.references_path("train"))
    )
    assert scored.values["eval_mode"] == mode
    for key, value in scored.values.items():
      if isinstance(value, float) and key in report.values:
        assert report.values[key] == pytest.approx(100 * value, abs=1e-4), key
  (written,) = (json.loads(paths["GT"].read_text())["results"]["v_aa"]["0"],)
  assert written["idx_in_sent"] == [1, 4, 5]  # As distributed, the empty word counted.
  assert np.shape(written["bbox_for_all_frames"]) == (3, 10, 4)


def test_boxes_of_answers_are_in_pixels_of_every_frame(data, tmp_path):
  run, split = run_of(data, tmp_path), data.split("val")
  answers = captioner_evaluation.caption_split(
    run.model, run.vocabulary, split, decode_config.DecodeConfig(max_length=6)
  )
  for position, answer in enumerate(answers):
    regions = split.record(position).regions
    for boxes, weights in zip(answer.frame_boxes_px, answer.attention[:, 0], strict=True):
      for frame, box in enumerate(boxes):
        inside = np.flatnonzero(regions.frame == frame)
        best = inside[np.argmax(weights[inside])]
        np.testing.assert_allclose(box, regions.boxes_px[best], rtol=1e-5)


def test_sentences_without_boxes_name_the_words_of_classes(data, tmp_path):
  run, split = run_of(data, tmp_path), data.split("val")
  found = video_grounding.given_sentences(run, split, video_grounding.classes_of(data))
  assert found["v_cc"]["1"].classes == ("he", "ball")
  assert found["v_cc"]["1"].indices == (0, 3)


def test_a_captioner_of_other_frames_is_refused(data, tmp_path):
  run = run_of(data, tmp_path)
  small = {**run.model.config.__dict__, "num_frames": 7}
  model = run_folders.make_model("captioner", "cyclical", type(run.model.config)(**small))
  with pytest.raises(errors.UserError, match="videos of 10 frames, the captioner was trained on 7"):
    captioner_evaluation.check_regions(model, data.split("val"))


def test_grounded_segments_are_drawn_if_they_carry_frames(data, tmp_path):
  config = drawn_scenes.SceneConfig(train=3, val=0, test=0, video=True)
  noisy = simulated_detector.NoisyConfig(regions=3, feature_size=5)
  videos = prepare.prepare(
    prepare.PrepareConfig("scenes", regions="noisy", scenes=config, noisy=noisy),
    tmp_path / "scenes",
    workers=1,
  )
  split = videos.split("train")
  answers = [
    captioner_evaluation.Answer(
      record.image_id,
      record.captions[0].tokens,
      np.zeros(len(record.captions[0].tokens), int),
      np.zeros((len(record.captions[0].tokens), 4)),
      (320.0, 240.0),
      0.0,
      np.zeros(0),
      frame_boxes_01=np.full((len(record.captions[0].tokens), 10, 4), 0.5),
    )
    for record in map(split.record, range(3))
  ]
  classes = video_grounding.classes_of(videos)
  video_grounding.draw_strips(tmp_path / "strips", answers, split, classes)
  assert sorted(path.stem for path in (tmp_path / "strips").iterdir()) == [
    answer.image_id for answer in answers
  ]
  with pytest.raises(errors.UserError, match="carry no frames"):
    video_grounding.draw_strips(tmp_path / "none", answers, data.split("train"), classes)


def test_pictures_are_not_scored_as_videos(tmp_path):
  split = make_records.write_folder(tmp_path / "p", {"train": make_records.make_records(1)}).split(
    "train"
  )
  with pytest.raises(errors.UserError, match="is a picture"):
    video_grounding.generated([None], split, None)


def test_a_submission_is_read_as_it_was_written(tmp_path):
  boxes = np.arange(80, dtype=np.float32).reshape(2, 10, 4)
  segment = anet_io.predicted_segment(["man", None, "dog"], boxes[[0, 0, 1]], [0, 2, 3])
  anet_io.write_submission(tmp_path / "s.json", {"v_a": {"0": segment}}, "GT", "a detector")
  found, mode = anet_io.read_submission(tmp_path / "s.json")
  assert mode == "GT" and found["v_a"]["0"].indices == (0, 3)
  np.testing.assert_array_equal(found["v_a"]["0"].boxes_px, boxes)
