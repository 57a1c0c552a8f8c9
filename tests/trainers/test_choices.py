"""Choices and defaults that flags name without importing the library are those of the library."""
# bazel: data = ["//trainers:command"]

import json
import subprocess
import sys

import pytest

from gcap_tf.data.prepared import beam_prepare, prepare
from gcap_tf.data.readers import datasets
from gcap_tf.data.stores import detection_files, simulated_detector
from gcap_tf.interop import imported_runs
from gcap_tf.metrics import captions
from gcap_tf.recipes import catalog, scales

PROGRAM = """
import importlib, json, sys
from absl import flags
importlib.import_module(sys.argv[1])
flag = flags.FLAGS[sys.argv[2]]
print(json.dumps([flag.default, list(getattr(flag.parser, "enum_values", [])), flag.help]))
assert "tensorflow" not in sys.modules and "numpy" not in sys.modules
"""


def flag(command: str, name: str) -> tuple:
  """Default, choices and help of a command's flag, without importing TensorFlow or NumPy."""
  words = [sys.executable, "-c", PROGRAM, f"trainers.{command}", name]
  done = subprocess.run(words, capture_output=True, text=True)
  assert done.returncode == 0, done.stderr
  return json.loads(done.stdout)


@pytest.mark.parametrize(
  ("command", "name", "choices"),
  [
    ("import_checkpoint", "family", imported_runs.FAMILIES),
    ("prepare_data", "noisy_level", simulated_detector.LEVELS),
    ("prepare_data", "runner", (prepare.LOCAL, *beam_prepare.RUNNERS)),
    ("reproduce", "paper", ("all", *catalog.TABLES)),
    ("reproduce", "scale", scales.SCALES.names()),
  ],
)
def test_choices_are_those_of_the_library(command, name, choices):
  assert sorted(flag(command, name)[1]) == sorted(choices)


@pytest.mark.parametrize(
  ("command", "name", "default"),
  [
    ("caption", "min_score", detection_files.MIN_SCORE),
    ("evaluate_captioner", "metrics", list(captions.METRICS)),
    ("reproduce", "metrics", list(captions.METRICS)),
  ],
)
def test_defaults_are_those_of_the_library(command, name, default):
  assert flag(command, name)[0] == default


def test_the_help_names_every_dataset():
  assert flag("prepare_data", "dataset")[2] == f"One of {', '.join(datasets.DATASETS.names())}."
