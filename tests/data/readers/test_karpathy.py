import pytest
from PIL import Image

from gcap_tf import errors, files
from gcap_tf.data import validation
from gcap_tf.data.readers import karpathy


def image(name, split, *captions, **extra):
  return {
    "filename": name,
    "split": split,
    "sentences": [
      {"raw": text, "tokens": text.lower().replace(".", "").split(), "sentid": f"{name}{n}"}
      for n, text in enumerate(captions)
    ],
    **extra,
  }


@pytest.fixture
def path(tmp_path):
  images = [
    image("c_1.jpg", "train", "A clown rests.", cocoid=1, filepath="val2014"),
    image("c_2.jpg", "restval", "Pears hang.", cocoid=2, filepath="val2014"),
    image("33.jpg", "test", "It rains.", "Rain falls."),
  ]
  files.write_json(tmp_path / "dataset_made.json", {"dataset": "made", "images": images})
  return tmp_path / "dataset_made.json"


def read(source, **options):
  splits, most = options.pop("splits", None), options.pop("max_images", None)
  found = list(karpathy.Karpathy(source, **options).read(splits, most, progress=False))
  for record in found:
    validation.check_record(record, "made")
  return {(record.split, record.image_id): record for record in found}


def test_restval_joins_train_by_default(path):
  assert list(read(path)) == [("train", "1"), ("train", "2"), ("test", "33")]


def test_restval_can_be_kept_or_dropped(path):
  assert ("restval", "2") in read(path, restval="keep")
  assert list(read(path, restval="drop")) == [("train", "1"), ("test", "33")]


def test_tokens_are_those_of_the_file(path):
  captions = read(path)["test", "33"].captions
  assert [c.tokens for c in captions] == [("it", "rains"), ("rain", "falls")]
  assert [c.caption_id for c in captions] == ["33.jpg0", "33.jpg1"]
  assert captions[0].text == "It rains."


def test_sentences_without_tokens_are_split_here(path):
  content = files.read_json(path)
  del content["images"][2]["sentences"][0]["tokens"]
  files.write_json(path, content)
  assert read(path)["test", "33"].captions[0].tokens == ("it", "rains")


def test_a_folder_with_one_split_file_may_be_given(path):
  assert len(read(path.parent)) == 3


def test_sizes_come_from_pictures_next_to_the_file(path):
  (path.parent / "val2014").mkdir()
  Image.new("RGB", (9, 6)).save(path.parent / "val2014" / "c_1.jpg")
  found = read(path)
  assert (found["train", "1"].width, found["train", "1"].height) == (9, 6)
  assert found["train", "1"].picture_path.endswith("val2014/c_1.jpg")
  assert (found["train", "2"].width, found["train", "2"].picture_path) == (0, "")


def test_an_entry_that_lacks_a_key_is_named(path):
  content = files.read_json(path)
  del content["images"][1]["split"]
  files.write_json(path, content)
  with pytest.raises(errors.UserError, match=r'dataset_made\.json: image 1: "split" is missing'):
    read(path)


def test_a_picture_listed_twice_is_refused(path):
  content = files.read_json(path)
  content["images"].append(content["images"][2])
  files.write_json(path, content)
  with pytest.raises(errors.UserError, match="picture 33 is listed twice in test"):
    read(path)


def test_a_sentence_without_words_is_named(path):
  content = files.read_json(path)
  content["images"][2]["sentences"][1].update(tokens=[], raw=" . ")
  files.write_json(path, content)
  with pytest.raises(errors.UserError, match="picture 33, sentence 1 has no words"):
    read(path)


def test_another_json_file_is_refused(path):
  files.write_json(path, [1])
  with pytest.raises(errors.UserError, match='no "images"'):
    read(path)


def test_a_sentence_of_another_form_is_named(path):
  content = files.read_json(path)
  content["images"][2]["sentences"][1] = "Rain falls."
  files.write_json(path, content)
  with pytest.raises(errors.UserError, match="picture 33, sentence 1"):
    read(path)
