import json
import pickle

import pytest
from PIL import Image

from gcap_tf import errors
from gcap_tf.data import validation
from gcap_tf.data.readers import instapic


def read(source, **options):
  splits, most = options.pop("splits", None), options.pop("max_images", None)
  found = list(instapic.InstaPIC(source, **options).read(splits, most, progress=False))
  for record in found:
    validation.check_record(record, "made")
  return found


def test_json_lines_and_tables_read_alike(tmp_path):
  rows = [("a/1.jpg", "Sunny day \U0001f600!"), ("2.jpg", "so\tgood")]
  (tmp_path / "val.tsv").write_text("".join(f"{p}\t{c}\n" for p, c in rows))
  (tmp_path / "train.jsonl").write_text(
    "".join(json.dumps({"picture": f"t{p}", "caption": c}) + "\n" for p, c in rows)
  )
  found = read(tmp_path)
  assert [(r.split, r.image_id) for r in found] == [
    ("train", "ta/1"),
    ("train", "t2"),
    ("val", "a/1"),
    ("val", "2"),
  ]
  assert found[0].captions[0].tokens == ("sunny", "day", "\U0001f600")
  assert found[2].captions[0].tokens == found[0].captions[0].tokens
  assert all(len(record.captions) == 1 for record in found)


def test_sizes_come_from_pictures_next_to_the_captions(tmp_path):
  (tmp_path / "train.tsv").write_text("1.png\tfog\n2.png\train\n")
  Image.new("RGB", (8, 3)).save(tmp_path / "1.png")
  first, second = read(tmp_path)
  assert (first.width, first.height, second.width) == (8, 3, 0)
  assert first.picture_path == str(tmp_path / "1.png") and second.picture_path == ""


def test_captions_without_words_are_left_out(tmp_path):
  (tmp_path / "train.tsv").write_text("1.png\t2015!\n2.png\train\n")
  assert [record.image_id for record in read(tmp_path)] == ["2"]


def test_the_split_may_end_a_longer_name(tmp_path):
  (tmp_path / "insta-caption-test.txt").write_text("1.png\tfog\n")
  assert read(tmp_path / "insta-caption-test.txt")[0].split == "test"


def test_a_reader_pickles(tmp_path):
  (tmp_path / "train.tsv").write_text("1.png\tfog\n")
  source = instapic.InstaPIC(tmp_path)
  source.record("1", "train")
  assert pickle.loads(pickle.dumps(source)).record("1", "train").captions[0].text == "fog"


@pytest.mark.parametrize(
  ("name", "content", "message"),
  [
    ("train.tsv", "1.png fog\n", r"train\.tsv, line 1: '1\.png fog'; expected picture, a tab"),
    ("train.tsv", "1.png\tfog\n1.png\train\n", "line 2: picture 1 has a caption already"),
    ("train.jsonl", "{\n", r"train\.jsonl, line 1 is not a JSON object"),
    ("train.jsonl", '{"picture": "1"}\n', 'line 1: expected the keys "picture" and "caption"'),
    ("train.jsonl", '"picture"\n', 'line 1: expected the keys "picture" and "caption"'),
    ("train.jsonl", "[1]\n", 'line 1: expected the keys "picture" and "caption"'),
    ("train.tsv", "\n", r"train\.tsv has no captions"),
    ("notes.md", "", r"no captions there; expected train\.jsonl"),
  ],
)
def test_faults_are_named(tmp_path, name, content, message):
  (tmp_path / name).write_text(content)
  with pytest.raises(errors.UserError, match=message):
    read(tmp_path)


def test_two_files_of_one_split_are_refused(tmp_path):
  for name in ("train.tsv", "train.jsonl"):
    (tmp_path / name).touch()
  with pytest.raises(errors.UserError, match="are both the split train"):
    read(tmp_path)
