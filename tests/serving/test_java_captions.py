"""serving/java: exported captioners answer the same without Python."""

# bazel: size = "large", data = ["//serving/java:files"]

import base64
import json
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest
import tensorflow as tf

import serving
from export import captioner_module, photograph_module, saved_model
from gcap_tf.captioners import catalog
from gcap_tf.runs import photograph_runs
from tests.export import picture_captioner, tiny_runs
from tests.vision import picture_files

JAVA = pathlib.Path(serving.__file__).parent / "java"
_CACHE = os.environ.get("XDG_CACHE_HOME") or f"{os.environ.get('HOME', '')}/.cache"
LIBRARIES = pathlib.Path(
  os.environ.get("GCAP_TENSORFLOW_JAVA") or f"{_CACHE}/gcap_tf/tensorflow_java"
)


@pytest.fixture(scope="module")
def caption(tmp_path_factory):
  """Runs the program; skips if Java or its libraries are missing."""
  if not (shutil.which("java") and shutil.which("javac")):
    pytest.skip("no Java here: apt install openjdk-17-jdk-headless")
  missing = [
    name
    for name in (line.split("/")[-1] for line in (JAVA / "jars.txt").read_text().splitlines())
    if not (LIBRARIES / name).exists()
  ]
  if missing:
    pytest.skip(f"{LIBRARIES / missing[0]} is missing: run serving/java/build.sh")
  classes = tmp_path_factory.mktemp("classes")
  sources = [str(JAVA / "Caption.java")]
  subprocess.run(["javac", "-d", str(classes), "-cp", f"{LIBRARIES}/*", *sources], check=True)

  def run(*arguments):
    command = ["java", "-cp", f"{classes}:{LIBRARIES}/*", "Caption", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]

  return run


def save(module, folder):
  saved_model.save(module, str(folder), module.signatures())
  return folder


def check(rows, expected):
  assert len(rows) == len(expected["caption"])
  for row, found in enumerate(rows):
    count = int(expected["length"][row])
    assert found["caption"] == expected["caption"][row].numpy().decode()
    assert found["box_index"] == expected["box_index"][row].numpy()[:count].tolist()
    assert found["grounded"] == expected["grounded"][row].numpy()[:count].tolist()
    np.testing.assert_allclose(found["log_prob"], expected["log_prob"][row], rtol=1e-3, atol=1e-3)


def test_photographs_get_the_captions_that_python_gives(caption, tmp_path):
  found = photograph_runs.load(picture_captioner.write(tmp_path))
  options = {"is_thing": tiny_runs.THINGS, "max_length": 8, "float16": True}
  module = photograph_module.PhotographModule(found, **options)
  folder, samples = save(module, tmp_path / "model"), picture_files.samples()
  data = [samples[name] for name in ("jpeg", "png", "turned", "grey_jpeg", "webp")] + [b"hello"]
  paths = [tmp_path / f"{number}.jpg" for number in range(len(data))]
  for path, content in zip(paths, data, strict=True):
    path.write_bytes(content)
  for signature in ("caption_image", "caption_image_beam"):
    rows = caption(folder, f"--signature={signature}", *paths)
    check(rows, module.python_answer(signature, {"image_bytes": tf.constant(data)}))
    assert [bool(row["error"]) for row in rows] == [False] * 4 + [True] * 2


@pytest.mark.parametrize("name", sorted(catalog.CAPTIONERS.names()))
def test_regions_get_the_captions_that_python_gives(caption, tmp_path, name):
  run = tiny_runs.captioner_run(tmp_path, name=name)
  module = captioner_module.CaptionerModule(
    run.model, run.vocabulary, tiny_runs.THINGS, max_length=6
  )
  folder, inputs = save(module, tmp_path / "model"), tiny_runs.regions(3, 4)
  inputs = {key: inputs[key] for key in module.specs("greedy")}
  (tmp_path / "request.txt").write_text("\n".join(line(*item) for item in inputs.items()) + "\n")
  expected = module.python_answer("greedy", {key: tf.constant(x) for key, x in inputs.items()})
  check(caption(folder, f"--request={tmp_path / 'request.txt'}"), expected)


def line(name, array):
  """An input as a line of a request file."""
  text = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
  return f"{name} {array.dtype} {','.join(map(str, array.shape))} {text}"
