"""Tests of trainers/demo_page.py: the page and its pictures."""

import dataclasses

import numpy as np

from gcap_tf.data.scenes import drawn_scenes
from gcap_tf.data.stores import simulated_detector
from serving import client
from trainers import demo_page


def answer(words, regions):
  attention = np.eye(len(words), regions, dtype=np.float32)
  return client.GroundedCaption(
    " ".join(words),
    tuple(words),
    np.arange(len(words)),
    np.array([word == "dog" for word in words]),
    np.tile(np.float32([0.1, 0.1, 0.5, 0.6]), (len(words), 1)),
    attention,
    -1.0,
  )


def test_the_page_shows_every_answer_and_escapes_what_it_writes(tmp_path):
  record = drawn_scenes.record(drawn_scenes.SceneConfig(train=1, val=0, test=0), 0)
  regions = simulated_detector.noisy(
    record, simulated_detector.NoisyConfig(regions=6, feature_size=4)
  )
  record = dataclasses.replace(record, regions=regions)
  demo_page.write(
    tmp_path,
    [record, record],
    [answer(["a", "dog"], 6), answer(["<b>", "dog"], 6)],
    "Answers & boxes",
    ("", "before", "after"),
    [("CIDEr", "1.0", "2.0")],
  )
  page = (tmp_path / "index.html").read_text()
  assert "Answers &amp; boxes" in page
  assert "<td>CIDEr</td><td>1.0</td><td>2.0</td>" in page
  assert "&lt;b&gt; dog" in page and "<b>" not in page
  assert (tmp_path / "scene_02.png").exists() and (tmp_path / "attention.png").exists()


def test_boxes_are_scaled_by_the_picture():
  record = drawn_scenes.record(drawn_scenes.SceneConfig(train=1, val=0, test=0), 0)
  record = dataclasses.replace(record, regions=simulated_detector.perfect(record))
  boxes = demo_page.boxes_01(record)
  assert boxes.min() >= 0.0 and boxes.max() <= 1.0 + 1e-6
  np.testing.assert_allclose(boxes[:, 0] * record.width, record.regions.boxes_px[:, 0], atol=1e-3)
