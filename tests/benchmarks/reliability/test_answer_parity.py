"""Tests of benchmarks/reliability/answer_parity.py."""

# bazel: data = ["//serving/java:files"]

from benchmarks.reliability import answer_parity, counts
from gcap_tf.runs import run_folders
from tests.export import picture_captioner


def test_all_runtimes_give_the_same_answers(tmp_path):
  run = run_folders.load(picture_captioner.write(tmp_path), "captioner")
  found = counts.Counts()
  assert answer_parity.compare(run, [], 12, found) == []
  for kind in ("photographs", "regions"):
    numbers = found.of(kind)
    assert {numbers[name] for name in ("Python", "SavedModel equal", "server equal")} == {12}


def test_other_words_indices_and_boxes_are_different():
  ours = ("a dog", [0, 1], [[0.0, 0.0, 1.0, 1.0]] * 2)
  assert answer_parity.same(ours, ours)
  assert answer_parity.same(ours, ours[:2])
  assert answer_parity.same(ours, (*ours[:2], [[0.0, 0.0, 1.0, 1.0 + 1e-7]] * 2))
  assert not answer_parity.same(ours, (*ours[:2], [[0.0, 0.0, 1.0, 0.99]] * 2))
  assert not answer_parity.same(ours, ("a cat", *ours[1:]))
  assert not answer_parity.same(ours, (ours[0], [0, 2]))
