import re

import numpy as np

from gcap_tf.evaluation import captioner_evaluation, clip_captioning
from gcap_tf.vision import clips
from trainers.gallery import clip_page


def answer(words, grounded, boxes_01):
  frames = tuple(np.full([24, 32, 3], 40 * n, np.uint8) for n in range(3))
  return clip_captioning.ClipAnswer(
    clips.Clip("a <walk>", frames, (0, 4, 8), 9),
    captioner_evaluation.Answer(
      image_id="walk",
      words=words,
      box_index=np.zeros(len(words), int),
      boxes_01=np.zeros([len(words), 4]),
      size=(32.0, 24.0),
      log_prob=-1.0,
      attention=np.zeros([len(words), 1, 1]),
      grounded=np.array(grounded, bool),
      frame_boxes_01=np.array(boxes_01, np.float32).reshape(len(words), 3, 4),
    ),
  )


def test_a_word_has_its_box_in_every_frame_of_film_and_strip():
  boxes = np.zeros([3, 3, 4])
  boxes[1] = [0.25, 0.5, 0.75, 1.0]
  boxes[2, 1] = [0.0, 0.0, 0.5, 0.5]  # Seen in the second frame alone.
  page = clip_page.page(answer(("a", "man", "d<g"), (False, True, True), boxes))
  film, strip = page.split('<div class="strip">')
  for part in (film.split("</style>")[1], strip):
    assert part.count('class="frame"') == 3
    places = re.findall(r'box b(\d) c\d[^"]*" style="([^"]*)"', part)
    assert [slot for slot, _ in places] == ["1", "1", "2", "1"]
    assert places[0][1] == "left:25.00%;top:50.00%;width:50.00%;height:50.00%"
  assert "figure:has(.w1:is(:hover, :focus-visible)) .box:not(.b1) { opacity: 0; }" in page
  assert 'class="thing c1 w2"' in page and "d&lt;g" in page and "a &lt;walk&gt;" in page
  assert "d<g" not in page and "<script" not in page


def test_every_frame_has_its_turn():
  page = clip_page.page(answer(("man",), (True,), np.ones([1, 3, 4])))
  film = page.split("</style>")[1].split('<div class="strip">')[0]
  assert re.findall(r"animation-delay: ([\d.]+)s", film) == ["0", "0.5", "1"]
  assert "--all: 1.5s" in page and "33.3333% { opacity: 0; }" in page
  assert "3 of 9 frames" in page


def test_a_clip_without_an_answer_says_so():
  assert "No caption" in clip_page.page(answer((), (), np.zeros([0, 3, 4])))
