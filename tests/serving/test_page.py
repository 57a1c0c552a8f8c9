import io
import json
import os
import pathlib
import tempfile

import numpy as np
import pytest
from PIL import Image, ImageDraw

from gcap_tf.data import records
from serving import embedded, samples, versions
from tests.serving import browser as browsers
from tests.serving import tiny_models

TAB, ENTER, ESCAPE, RIGHT = "\ue004", "\ue007", "\ue00c", "\ue014"


LOOKED = (0.2, 0.3)  # in the box of the man of the first sample
LABELS = [("man", "horse", "dog"), ("dog", "ball", "tree"), ("bird", "boat", "sun")]


def record(number):
  rng = np.random.default_rng(number)
  picture = Image.new("RGB", (320, 240), (225, 232, 240))
  low = np.array([[20, 30], [170, 60], [90, 140]]) + rng.uniform(0, 20, (3, 2))
  boxes = np.concatenate([low, low + rng.uniform(60, 90, (3, 2))], 1).astype(np.float32)
  for box in boxes:
    ImageDraw.Draw(picture).ellipse(box.tolist(), fill=tuple(rng.integers(60, 220, 3).tolist()))
  encoded = io.BytesIO()
  picture.save(encoded, "PNG")
  regions = records.Regions(boxes_px=boxes, labels=LABELS[number])
  return records.Record(str(number), "test", 320, 240, (), regions, picture=encoded.getvalue())


@pytest.fixture(scope="module")
def server(tmp_path_factory):
  folder = tmp_path_factory.mktemp("page")
  tiny_models.save_namer(folder / "captioner", ("man", "horse", "dog", "ball", "tree", "goat"))
  samples.write(folder / "samples", map(record, range(3)))
  models = tuple(
    versions.ModelConfig(name, folder / "captioner") for name in ("captioner", "second")
  )
  config = embedded.ServerConfig(models=models, samples=folder / "samples")
  with embedded.Server(config) as server:
    yield server


@pytest.fixture(scope="module")
def browser():
  with browsers.chromium() as browser:
    yield browser


@pytest.fixture
def page(server, browser):
  """The page with the answer to its first sample."""
  browser.resize(1100, 900)
  browser.open(f"http://{server.rest_address}/")
  shows(browser, "a man near a horse")
  return browser


def keep(page, name):
  """Keeps a screenshot where Bazel collects them (bazel-testlogs/.../test.outputs)."""
  folder = pathlib.Path(os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR") or tempfile.mkdtemp())
  page.screenshot(folder / name)
  with Image.open(folder / name) as picture:
    assert len(picture.convert("RGB").getcolors(1 << 24)) > 50, "the screenshot is empty"


def shows(browser, caption):
  spoken = "[...document.querySelectorAll('.caption button')].map(b => b.firstChild.data).join(' ')"
  browser.wait_for(f"return {spoken} === {json.dumps(caption)}")


def darkness(page, *places):
  """How opaque the dark of the attention map is at places of the picture, from 0 to 255."""
  return page.run(
    """
    const {width, height} = document.querySelector('.heatmap');
    const pen = document.querySelector('.heatmap').getContext('2d');
    const {data} = pen.getImageData(0, 0, width, height);
    return arguments[0].map(([x, y]) => {
      const at = 4 * (Math.floor(y * height) * width + Math.floor(x * width));
      return data[at] < 100 ? data[at + 3] : 0;
    });
    """,
    places,
  )


def test_nouns_have_the_colour_of_their_box(page):
  colours = page.run(
    """
    const colours = (kind) => [...document.querySelectorAll(kind)].map(
      (e) => [e.getAttribute('aria-label'), getComputedStyle(e).color]);
    return [colours('.thing'), colours('.box')];
    """
  )
  words, boxes = (dict(pairs) for pairs in colours)
  assert set(words) == {"man, box 1", "horse, box 2"}
  assert words["man, box 1"] == boxes["Box 1: man"]
  assert words["horse, box 2"] == boxes["Box 2: horse"]
  assert words["man, box 1"] != words["horse, box 2"]


def test_boxes_lie_where_the_regions_are(page):
  found = page.run(
    """
    const place = (selector) => document.querySelector(selector).getBoundingClientRect();
    const [stage, box] = [place('.stage'), place('.box[aria-label="Box 1: man"] .line')];
    return [(box.left - stage.left) / stage.width, (box.top - stage.top) / stage.height];
    """
  )
  x1, y1 = record(0).regions.boxes_px[0, :2]
  np.testing.assert_allclose(found, [x1 / 320, y1 / 240], atol=0.02)


def test_another_sample_is_captioned(page):
  page.click("#samples button:nth-child(2)")
  shows(page, "a dog near a ball")
  assert page.run("return document.querySelector('#samples [aria-pressed=true]').textContent") == (
    "Picture 1"
  )


def test_hovering_a_word_lights_its_box_and_its_attention(page):
  page.hover(".thing")
  page.wait_for("return document.querySelector('.box.lit')")
  assert page.run("return document.querySelector('.box.lit').getAttribute('aria-label')") == (
    "Box 1: man"
  )
  inside, outside = darkness(page, LOOKED, (0.97, 0.03))
  assert inside < 20 < 150 < outside, "the picture is dark where the word did not look"
  assert page.text(".looked") == "“man” looked at region 1 (man) 80 %, region 2 (horse) 10 %, " + (
    "region 3 (dog) 10 %"
  )
  keep(page, "hover.png")
  page.hover("h1")
  page.wait_for("return !document.querySelector('.lit')")


def test_hovering_a_box_lights_its_words(page):
  page.hover('.box[aria-label="Box 2: horse"]')
  page.wait_for("return document.querySelector('.caption .lit')")
  lit = "return [...document.querySelectorAll('.caption .lit')].map(b => b.firstChild.data)"
  assert page.run(lit) == ["horse"]


def test_words_are_reached_with_the_keyboard(page):
  page.run("document.querySelector('.caption').focus()")
  page.press(TAB)
  assert page.run("return document.activeElement.parentElement.className") == "caption"
  page.wait_for("return document.activeElement.classList.contains('lit')")
  page.press(RIGHT)
  page.wait_for("return document.activeElement.firstChild.data === 'man'")


def test_clicked_word_stays_lit_until_escape(page):
  page.click(".thing")
  page.run("document.activeElement.blur()")
  page.hover("h1")
  lit = "return document.querySelector('.box.lit')?.getAttribute('aria-label')"
  assert page.wait_for(lit) == "Box 1: man"
  assert page.run("return document.querySelector('.thing').getAttribute('aria-pressed')") == "true"
  page.press(ESCAPE)
  page.wait_for("return !document.querySelector('.lit, .caption [aria-pressed=true]')")


def test_boxes_are_pressed_with_the_keyboard(page):
  page.run("document.querySelector('.box').focus()")
  for pressed in ("true", "false"):
    page.press(ENTER)
    page.wait_for(f"return document.activeElement.getAttribute('aria-pressed') === '{pressed}'")


def test_model_is_chosen_among_the_captioners(page):
  listed = "return [...document.getElementById('model').options].map(o => o.text)"
  assert page.run(listed) == ["captioner, version 1", "second, version 1"]
  assert page.text(".facts").startswith("captioner, version 1, greedy")
  page.click("#model option:nth-child(2)")
  page.wait_for("return document.querySelector('.facts').textContent.startsWith('second')")
  shows(page, "a man near a horse")


def test_beam_search_is_asked_for_when_chosen(page):
  page.click("input[value=beam]")
  shows(page, "a horse near a man")
  page.wait_for("return document.querySelector('.facts').textContent.includes('beam')")
  assert page.text(".facts").startswith("captioner, version 1, beam, log-probability \u22121.00")


def test_raw_answer_is_linked_and_can_be_saved(page):
  href, saved, name = page.run(
    """
    const [link, save] = ['raw', 'save-json'].map((name) => document.querySelector(`.${name}`));
    return [link.href, save.href, save.download];
    """
  )
  assert href.startswith("blob:") and saved.startswith("blob:")
  assert name == "caption.json"
  page.click(".raw")
  with page.new_window() as window:
    raw = json.loads(window.wait_for("return document.body?.textContent"))
  assert raw["predictions"][0]["caption"] == "a man near a horse"


def test_own_detections_are_captioned(page, tmp_path):
  picture = tmp_path / "own.png"
  Image.new("RGB", (50, 50), "green").save(picture)
  detections = tmp_path / "own.json"
  detections.write_text('{"regions": [{"box": [0, 0, 0.5, 0.5], "label": "zebra"}]}')
  page.type("#picture-file", str(picture))
  page.wait_for("return document.querySelector('.notes .error')")
  assert "This model reads boxes of a detector, not photographs" in page.text(".notes")
  page.click("#own-regions summary")
  page.type("#detections-file", str(detections))
  shows(page, "a zebra near a zebra")
  assert page.text(".notes").splitlines()[0] == (
    "The model does not know “zebra”: that box counts as unlabelled."
  )
  coco = tmp_path / "coco.json"
  rows = [
    {"image_id": 1, "bbox": [0, 0, 25, 50], "category": "goat", "score": 0.9},
    {"image_id": 1, "bbox": [0, 0, 25, 50], "category": "ghost", "score": 0.1},
  ]
  coco.write_text(json.dumps(rows))
  page.type("#detections-file", str(coco))
  shows(page, "a goat near a goat")
  assert page.text(".notes").splitlines() == [
    "1 detection with a score below 0.3 was left out.",
    "This model reads boxes and labels only; it does not see the pixels.",
  ]
  assert page.run("return document.querySelector('#samples [aria-pressed=true]')") is None
  rows.append({"image_id": 2, "bbox": [0, 0, 25, 50], "category": "cow"})
  several = tmp_path / "several.json"
  several.write_text(json.dumps(rows))
  page.type("#detections-file", str(several))
  page.wait_for("return document.getElementById('status').classList.contains('error')")
  assert "The file has 2 pictures" in page.text("#status")
  second = tmp_path / "0002.png"
  Image.new("RGB", (50, 100), "green").save(second)
  page.type("#picture-file", str(second))
  shows(page, "a cow near a cow")
  height = "const place = document.querySelector('.stage').getBoundingClientRect();"
  height += "return place.height / place.width"
  assert page.run(height) == pytest.approx(2, abs=0.02), "the picture is out of shape"
  wrong = tmp_path / "wrong.json"
  wrong.write_text('{"regions": 3}')
  page.type("#detections-file", str(wrong))
  page.wait_for("return document.getElementById('status').classList.contains('error')")
  assert 'needs a list "regions"' in page.text("#status")


@pytest.mark.parametrize(
  ("region", "message"),
  [
    ({"box": [10, 10, 30, 30]}, "Region 1 is in pixels"),
    ({"box": [0.5, 0.1, 0.2, 0.4]}, "Region 1 is inverted"),
    ({"box": [0.5, 0.1, 1.2, 0.4]}, "Region 1 is outside the picture"),
    ({"box": [0, 0, 1, 1], "label": ["dog"]}, '"label" must be one string'),
  ],
)
def test_wrong_region_of_a_file_is_refused_with_the_fix(page, tmp_path, region, message):
  path = tmp_path / "wrong.json"
  path.write_text(json.dumps({"regions": [region]}))
  page.click("#own-regions summary")
  page.type("#detections-file", str(path))
  page.wait_for("return document.getElementById('status').classList.contains('error')")
  assert message in page.text("#status")


def test_phone_width_needs_no_sideways_scrolling(page):
  page.resize(360, 740)
  width = page.wait_for("return innerWidth < 520 && document.documentElement.scrollWidth")
  assert width <= page.run("return innerWidth")
  height = "return document.querySelector('.tag rect').getBoundingClientRect().height"
  assert page.run(height) == pytest.approx(22, abs=1), "numbers of boxes keep their size"
  keep(page, "phone.png")


def test_nothing_is_requested_from_elsewhere_and_nothing_is_logged(server, page):
  names = page.run("return performance.getEntriesByType('resource').map(e => e.name)")
  assert names
  assert all(name.startswith((f"http://{server.rest_address}/", "blob:")) for name in names), names
  assert page.messages() == []


def test_token_is_asked_for_only_where_the_server_wants_one(page):
  assert (
    page.run("return getComputedStyle(document.getElementById('token-field')).display") == "none"
  )


def test_controls_have_names_for_screen_readers(page):
  unnamed = page.run(
    """
    return [...document.querySelectorAll('input, select, button, [role=button], img')].filter(e =>
      !(e.getAttribute('aria-label') || e.labels?.length || e.textContent.trim()
        || e.alt || e.getAttribute('alt') === '')).map(e => e.outerHTML)
    """
  )
  assert unnamed == []
  assert page.run("return document.documentElement.lang") == "en"
  assert (
    page.run("return document.querySelector('#announce').getAttribute('aria-live')") == "polite"
  )
  assert page.wait_for("return document.querySelector('#announce').textContent") == (
    "captioner, version 1: a man near a horse. Words with a box: man, horse."
  )
