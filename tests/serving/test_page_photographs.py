"""The page with a captioner of photographs, in a real browser and with a real photograph."""

import io
import json
import shutil

import numpy as np
import pytest
from PIL import Image

from serving import embedded, free_photographs, samples, versions
from tests.serving import browser as browsers
from tests.serving import test_page, tiny_models, tiny_photographs


def quarters(path, colours):
  """A picture of four colours, which the tiny captioner orders by brightness."""
  picture = Image.new("RGB", (64, 48))
  for number, colour in enumerate(colours):
    x, y = 32 * (number % 2), 24 * (number // 2)
    picture.paste((colour,) * 3, (x, y, x + 32, y + 24))
  picture.save(path)
  return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
  folder = tmp_path_factory.mktemp("photographs")
  tiny_photographs.save(folder / "photographer")
  tiny_models.save_namer(folder / "namer", ("cup", "table", "spoon"))
  quarters(folder / "first.png", (250, 100, 100, 10))
  quarters(folder / "second.png", (100, 10, 250, 100))
  quarters(folder / "black.png", (0, 0, 0, 0))
  return folder


@pytest.fixture(scope="module")
def server(folder):
  samples.write_photographs(folder / "samples", {"Cup": folder / "first.png"})
  models = (
    versions.ModelConfig("photographer", folder / "photographer"),
    versions.ModelConfig("namer", folder / "namer"),
  )
  with embedded.Server(embedded.ServerConfig(models=models, samples=folder / "samples")) as server:
    yield server


@pytest.fixture(scope="module")
def browser():
  with browsers.chromium() as browser:
    yield browser


@pytest.fixture
def page(server, browser):
  browser.resize(1100, 900)
  browser.open(f"http://{server.rest_address}/")
  test_page.shows(browser, "a cup near the window with a hat")
  return browser


def labels_of(page, selector):
  script = "return [...document.querySelectorAll(arguments[0])].map(e => e.ariaLabel)"
  return page.run(script, selector)


def test_sure_words_have_boxes_and_unsure_words_have_none(page):
  assert labels_of(page, ".box") == ["Box 1: cup", "Box 2: window"]
  assert labels_of(page, ".caption .thing") == [
    "cup, box 1, right with 90 %",
    "window, box 2, right with 60 %",
  ]
  assert labels_of(page, ".caption .unsure") == ["hat, without a box: it would be right with 20 %"]
  assert page.text(".notes") == "Not sure enough where “hat” is, so no box is shown."
  assert "57 % of its boxes expected right" in page.text(".facts")


def test_threshold_decides_which_boxes_are_shown(page):
  move = """
    const slider = document.getElementById('threshold');
    slider.value = arguments[0];
    slider.dispatchEvent(new Event('input'));
  """
  page.run(move, 80)
  assert labels_of(page, ".box") == ["Box 1: cup"]
  assert page.text("#threshold-value") == "80 %"
  page.run(move, 10)
  assert labels_of(page, ".box") == ["Box 1: cup", "Box 2: window, hat"]


def test_every_region_is_shown_with_its_label_when_asked(page):
  opacity = "return Number(getComputedStyle(document.querySelector('.region')).opacity)"
  assert page.run(opacity) == 0
  page.click("#all-regions")
  page.wait_for(opacity + " > 0.5")
  assert page.text(".regions").split("\n") == [
    "cup 80 %",
    "table 70 %",
    "spoon 60 %",
    "window 50 %",
  ]


def test_two_models_stand_side_by_side(page):
  page.click("#second option:nth-child(3)")
  page.wait_for("return document.querySelectorAll('.panel .facts').length === 2")
  page.wait_for("return document.querySelectorAll('.panel')[1].querySelector('.thing')")
  captions = page.run(
    """return [...document.querySelectorAll('.panel')].map(panel =>
      [...panel.querySelectorAll('.caption button')].map(b => b.firstChild.data).join(' '))"""
  )
  assert captions == ["a cup near the window with a hat", "a cup near a table"]
  note = page.run("return document.querySelectorAll('.panel .notes')[1].innerText")
  assert "It was given the 4 regions that photographer, version 1 found." in note
  left, right = page.run(
    "return [...document.querySelectorAll('.stage')].map(e => e.getBoundingClientRect().left)"
  )
  assert left + 200 < right
  test_page.keep(page, "pair.png")


def test_chosen_photograph_is_captioned_and_black_one_has_no_answer(page, folder):
  page.type("#picture-file", str(folder / "second.png"))
  test_page.shows(page, "a spoon near the table with a hat")
  page.type("#picture-file", str(folder / "black.png"))
  page.wait_for("return document.querySelector('.notes')?.innerText.includes('gives no caption')")
  assert page.run("return document.querySelectorAll('.caption button, .box').length") == 0
  page.wait_for("return document.getElementById('announce').textContent.includes('no caption')")


def test_photograph_is_dropped_and_pasted(page, folder):
  give = """
    const [kind, bytes] = arguments;
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], 'given.png', {type: 'image/png'}));
    window.dispatchEvent(kind === 'drop'
      ? new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})
      : new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
  """
  page.run(give, "drop", list((folder / "second.png").read_bytes()))
  test_page.shows(page, "a spoon near the table with a hat")
  page.run(give, "paste", list((folder / "first.png").read_bytes()))
  test_page.shows(page, "a cup near the window with a hat")


def test_photograph_is_taken_with_the_camera(page):
  page.click("#camera-open")
  page.wait_for("return document.getElementById('camera').open")
  page.wait_for("return document.getElementById('camera-view').videoWidth > 0")
  page.click("#camera-take")
  page.wait_for("return document.querySelector('.picture').alt === 'photograph of the camera'")
  page.wait_for("return document.querySelector('.caption .thing')")
  page.wait_for("return !document.getElementById('camera').open")
  assert page.run("return document.getElementById('camera-view').srcObject") is None


def test_file_that_is_no_picture_is_refused_with_its_name(page, tmp_path):
  (tmp_path / "note.png").write_text("no picture")
  page.type("#picture-file", str(tmp_path / "note.png"))
  page.wait_for("return document.getElementById('status').classList.contains('error')")
  assert page.text("#status").startswith("note.png: the browser cannot show this file")


def watch_blobs(page):
  """Keeps the blobs that links are made of, and makes the links again."""
  page.run(
    """
    const make = URL.createObjectURL.bind(URL);
    window.blobs = new Map();
    URL.createObjectURL = (blob) => {
      const address = make(blob);
      window.blobs.set(address, blob);
      return address;
    };
    document.getElementById('threshold').dispatchEvent(new Event('input'));
    """
  )


def saved(page, selector):
  """The bytes that a link saves; the policy of the page forbids to fetch them."""
  blob = f"window.blobs.get(document.querySelector('{selector}').href)"
  page.wait_for(f"return Boolean({blob})")
  keep = "bytes => { window.bytes = [...new Uint8Array(bytes)] }"
  page.run(f"window.bytes = null; {blob}.arrayBuffer().then({keep})")
  return bytes(page.wait_for("return window.bytes"))


def test_annotated_picture_and_json_are_saved(page):
  watch_blobs(page)
  row = json.loads(saved(page, ".save-json"))
  assert row["caption"] == "a cup near the window with a hat"
  assert row["words"][1] == {
    **{"text": "cup", "names_a_thing": True, "box": [0, 0, 0.5, 0.5]},
    "score": 0.9,
  }
  assert row["words"][7]["box"] is None
  assert row["regions"][0]["label"] == "cup"
  drawn = np.asarray(Image.open(io.BytesIO(saved(page, ".save-picture"))).convert("RGB"))
  assert drawn.shape[1] == 480
  blue = (np.abs(drawn.astype(int) - (0, 117, 159)).max(-1) < 12).sum()
  assert blue > 500, "the box of the cup is drawn"


def test_walk_lights_every_word(page):
  page.click(".walk")
  page.wait_for("return document.querySelector('.caption .lit')")
  first = "return document.querySelector('.caption button').classList.contains('lit')"
  assert page.run(first)
  page.click(".walk")
  page.wait_for("return !document.querySelector('.caption .lit')")


def test_nothing_is_logged_and_nothing_is_requested_from_elsewhere(server, page):
  names = page.run("return performance.getEntriesByType('resource').map(e => e.name)")
  assert all(name.startswith((f"http://{server.rest_address}/", "blob:")) for name in names), names
  assert page.messages() == []


@pytest.fixture(scope="module")
def photograph(tmp_path_factory):
  found = free_photographs.find()
  if not found:
    pytest.skip(f"there is no photograph: {free_photographs.HOW_TO_GET}")
  folder = tmp_path_factory.mktemp("real")
  return shutil.copy(next(iter(found.values())), folder / "astronaut.png")


def test_real_photograph_is_captioned_at_every_width(page, photograph):
  page.type("#picture-file", str(photograph))
  page.wait_for("return document.querySelector('.picture').alt === 'astronaut.png'")
  page.wait_for("return document.querySelectorAll('.caption button').length === 8")
  shape = page.run(
    "const p = document.querySelector('.stage').getBoundingClientRect(); return p.width / p.height"
  )
  assert shape == pytest.approx(1, abs=0.02), "the astronaut is square"
  page.hover(".thing")
  page.wait_for("return document.querySelector('.stage.heated')")
  test_page.keep(page, "photograph.png")
  page.resize(390, 844)
  width = page.wait_for("return innerWidth < 520 && document.documentElement.scrollWidth")
  assert width <= page.run("return innerWidth")
  test_page.keep(page, "photograph_phone.png")
