"""Tests of benchmarks/reliability/reader_fuzz.py and of the readers that it fuzzes."""

# bazel: data = ["//benchmarks/reliability:corpus"]

import json
import pathlib
import random

import pytest

from benchmarks.reliability import counts, reader_fuzz, readers

CORPUS = pathlib.Path(reader_fuzz.__file__).parent / "corpus"


@pytest.mark.parametrize("name", readers.READERS)
def test_readers_refuse_changed_files_in_words(name):
  found = counts.Counts()
  fuzzer = reader_fuzz.fuzz(name, 300.0, found, most=60)
  assert not fuzzer.defects
  assert fuzzer.kept and found.of(name)["inputs"] == fuzzer.tried >= 60


def test_inputs_of_the_corpus_are_read_or_refused(tmp_path):
  for path in sorted(CORPUS.glob("*/*")):
    fuzzer = reader_fuzz.Fuzzer(path.parent.name, kept=[path.read_bytes()])
    assert not fuzzer.defects, path


def test_an_exception_that_is_no_refusal_is_a_defect():
  fuzzer = reader_fuzz.Fuzzer("annotations")
  fuzzer.reader = readers.Reader(lambda data, _: data.index(b"x"), list)
  fuzzer.read(b"")
  assert [place.partition(" ")[0] for place in fuzzer.defects] == ["ValueError"]


def test_an_input_that_reaches_new_lines_is_kept():
  fuzzer = reader_fuzz.Fuzzer("annotations")
  before = len(fuzzer.kept)
  assert fuzzer.try_input(b"<annotation>")
  assert not fuzzer.try_input(b"<annotation>")
  assert len(fuzzer.kept) == before + 1


def test_json_stays_json_with_another_value():
  data = json.dumps({"a": [1, {"b": "c"}]}).encode()
  changed = [reader_fuzz.odd_json(data, random.Random(seed)) for seed in range(50)]
  assert len({json.dumps(json.loads(each)) for each in changed}) > 10
  assert reader_fuzz.odd_json(b"{", random.Random(0)) is None


def test_kept_inputs_are_stored_and_taken_up_again(tmp_path):
  reader_fuzz.fuzz("sentences", 5.0, counts.Counts(), str(tmp_path), most=20)
  stored = list((tmp_path / "sentences").iterdir())
  assert stored
  again = reader_fuzz.fuzz("sentences", 0.0, counts.Counts(), str(tmp_path))
  assert again.tried == len(stored) + 1
