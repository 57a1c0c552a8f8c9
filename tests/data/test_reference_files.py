import json

import numpy as np
import pytest

from gcap_tf.data import reference_files
from tests.data import make_records


def test_references_follow_the_evaluators_schema(tmp_path):
  items = make_records.make_records(3)
  data = make_records.write_folder(tmp_path / "out", {"train": items})
  stored = json.loads(data.references_path("train").read_text())
  assert stored["vocab"] == list(make_records.NOUNS)
  assert stored["lemma2w"] == {noun: noun for noun in make_records.NOUNS}
  row, record = stored["annotations"][1], items[1]
  assert row["image_id"] == int(record.image_id)
  assert row["image_size"] == [100, 50]
  caption, expected = row["captions"][2], record.captions[2]
  assert caption["tokens"] == list(expected.tokens)
  assert caption["process_clss"] == [thing.name for thing in expected.objects]
  assert caption["process_idx"] == [thing.index for thing in expected.objects]
  np.testing.assert_array_equal(
    caption["process_bnd_box"], [thing.box_px for thing in expected.objects]
  )
  assert caption["word_idx"][0] == list(range(expected.phrases[0].end))
  np.testing.assert_array_equal(caption["bnd_box"][0], expected.phrases[0].boxes_px)


def test_captions_follow_cocos_schema(tmp_path):
  items = make_records.make_records(3, captions=2)
  data = make_records.write_folder(tmp_path / "out", {"train": items})
  stored = json.loads(data.captions_path("train").read_text())
  assert [row["id"] for row in stored["images"]] == [int(record.image_id) for record in items]
  assert stored["annotations"][3] == {
    "id": int(items[1].captions[1].caption_id),
    "image_id": int(items[1].image_id),
    "caption": items[1].captions[1].text,
  }


@pytest.mark.parametrize(
  ("text", "expected"), [("12", 12), ("0", 0), ("012", "012"), ("a1", "a1"), ("", ""), ("²", "²")]
)
def test_only_ids_that_are_plain_numbers_become_numbers(text, expected):
  assert reference_files.number_or_text(text) == expected


def test_joined_parts_are_one_json_object_and_are_gone(tmp_path):
  parts = [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
  for part, lines in zip(parts, ('{"n": 1}\n{"n": 2}\n', "", '{"n": "\\u2028"}\n'), strict=True):
    part.write_text(lines)
  reference_files.join_parts(tmp_path / "out", {"head": [0]}, {"rows": parts, "none": []})
  stored = json.loads((tmp_path / "out").read_text())
  assert stored == {"head": [0], "rows": [{"n": 1}, {"n": 2}, {"n": "\u2028"}], "none": []}
  assert [path.name for path in tmp_path.iterdir()] == ["out"]
