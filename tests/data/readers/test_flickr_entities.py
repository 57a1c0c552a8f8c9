# bazel: size = "medium"

import collections
import os
import pathlib
import pickle
import zipfile

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data import validation
from gcap_tf.data.readers import flickr_entities
from gcap_tf.text import object_words

CLASSES = object_words.ObjectClasses(["clown", "pear", "tent"])
FILES = {
  "Annotations/11.xml": (
    "<annotation><size><width>60</width><height>40</height></size>"
    "<object><name>1</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>30</xmax><ymax>40</ymax>"
    "</bndbox></object>"
    "<object><name>2</name><scene>1</scene><nobndbox>0</nobndbox></object></annotation>"
  ),
  "Annotations/12.xml": (
    "<annotation><size><width>50</width><height>50</height></size>"
    "<object><name>7</name><bndbox><xmin>5</xmin><ymin>5</ymin><xmax>51</xmax><ymax>20</ymax>"
    "</bndbox></object></annotation>"
  ),
  "Sentences/11.txt": (
    "[/EN#1/people A clown] sings in [/EN#2/scene a tent] .\n[/EN#1/people The clown] rests .\n"
  ),
  "Sentences/12.txt": "[/EN#7/other Green pears] hang low .\nNothing of the kind .\n",
}


def unpacked(folder, **changed):
  for name, text in {**FILES, **changed}.items():
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
  (folder / "train.txt").write_text("12\n11\n")
  return folder


def zipped(folder, **changed):
  with zipfile.ZipFile(folder / "annotations.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for name, text in {**FILES, **changed}.items():
      if text is not None:
        archive.writestr(name, text)
  (folder / "train.txt").write_text("12\n11\n")
  return folder


def read(folder, **options):
  splits, most = options.pop("splits", None), options.pop("max_images", None)
  source = flickr_entities.FlickrEntities(folder, CLASSES, **options)
  return list(source.read(splits, most, progress=False))


def summary(record):
  return record.image_id, record.split, record.width, [c.tokens for c in record.captions]


def test_archive_and_folders_read_alike_in_the_order_of_the_list(tmp_path):
  (tmp_path / "a").mkdir()
  (tmp_path / "b").mkdir()
  from_zip, from_folders = read(zipped(tmp_path / "a")), read(unpacked(tmp_path / "b"))
  assert list(map(summary, from_zip)) == list(map(summary, from_folders))
  assert [record.image_id for record in from_zip] == ["12", "11"]
  assert from_zip[1].captions[0].objects[0].box_px.tolist() == [0, 0, 29, 39]
  for record in from_zip:
    validation.check_record(record, "made")


def test_the_archive_itself_may_be_given(tmp_path):
  assert len(read(zipped(tmp_path) / "annotations.zip")) == 2


def test_a_pickled_reader_keeps_its_classes_and_opens_the_archive_again(tmp_path):
  source = flickr_entities.FlickrEntities(zipped(tmp_path))
  first = source.record("11")
  copy = pickle.loads(pickle.dumps(source))
  assert copy.classes.names == source.classes.names
  assert summary(copy.record("11")) == summary(first)


def test_unrelated_captions_can_be_dropped(tmp_path):
  folder = unpacked(tmp_path)
  (folder / "UNRELATED_CAPTIONS").write_text("# format: <imageID> <sentence number>\n12 2\n")
  kept, dropped = read(folder)[0], read(folder, unrelated="drop")[0]
  assert [caption.caption_id for caption in kept.captions] == ["12#0", "12#1"]
  assert [caption.caption_id for caption in dropped.captions] == ["12#0"]


def test_a_picture_of_unrelated_captions_only_is_named(tmp_path):
  folder = unpacked(tmp_path)
  (folder / "UNRELATED_CAPTIONS").write_text("12 1\n12 2\n")
  with pytest.raises(errors.UserError, match=r"Sentences/12\.txt: UNRELATED_CAPTIONS lists every"):
    read(folder, unrelated="drop")


def test_max_images_counts_in_each_split(tmp_path):
  folder = unpacked(tmp_path)
  (folder / "train.txt").write_text("12\n")
  (folder / "val.txt").write_text("11\n")
  assert [record.split for record in read(folder, max_images=1)] == ["train", "val"]


def test_default_classes_are_the_heads_of_boxed_phrases(tmp_path):
  source = flickr_entities.FlickrEntities(unpacked(tmp_path))
  assert source.head_word_counts() == {"clown": 2, "pears": 1}
  assert source.classes.names == ("clown", "pear")


def test_a_box_over_the_edge_is_cut(tmp_path):
  folder = unpacked(
    tmp_path, **{"Annotations/12.xml": FILES["Annotations/12.xml"].replace("51", "60")}
  )
  source = flickr_entities.FlickrEntities(folder, CLASSES)
  assert source.record("12").annotated[0].box_px[2] == 50
  assert source.boxes_clipped == 1


def test_a_listed_picture_without_file_is_named(tmp_path):
  folder = zipped(tmp_path, **{"Sentences/11.txt": None})
  with pytest.raises(errors.UserError, match=r"annotations\.zip: Sentences/11\.txt is missing"):
    read(folder)


def test_a_truncated_archive_is_named(tmp_path):
  archive = zipped(tmp_path) / "annotations.zip"
  archive.write_bytes(archive.read_bytes()[:-30])
  with pytest.raises(errors.UserError, match=r"annotations\.zip is not a whole zip archive"):
    read(tmp_path)


def test_a_damaged_member_is_named(tmp_path):
  archive = zipped(tmp_path) / "annotations.zip"
  data = bytearray(archive.read_bytes())
  start = data.index(b"Sentences/12.txt") + len(b"Sentences/12.txt")
  data[start + 5 : start + 15] = bytes(10)
  archive.write_bytes(data)
  with pytest.raises(errors.UserError, match=r"Sentences/12\.txt is damaged"):
    read(tmp_path)


def test_an_empty_split_list_is_refused(tmp_path):
  folder = unpacked(tmp_path)
  (folder / "train.txt").write_text("\n")
  with pytest.raises(errors.UserError, match=r"train\.txt is empty"):
    read(folder)


def test_a_picture_in_two_splits_is_refused(tmp_path):
  folder = unpacked(tmp_path)
  (folder / "test.txt").write_text("11\n")
  with pytest.raises(errors.UserError, match="picture 11 is listed in train and again in test"):
    read(folder)


def test_a_folder_without_the_dataset_says_what_it_looked_for(tmp_path):
  with pytest.raises(errors.UserError, match=r"neither annotations\.zip nor the folders"):
    read(tmp_path)


def test_a_folder_without_split_lists_says_so(tmp_path):
  folder = unpacked(tmp_path)
  (folder / "train.txt").unlink()
  with pytest.raises(errors.UserError, match=r"no train\.txt, val\.txt or test\.txt"):
    read(folder)


def test_a_broken_line_of_unrelated_captions_is_named(tmp_path):
  folder = unpacked(tmp_path)
  (folder / "UNRELATED_CAPTIONS").write_text("12\n")
  with pytest.raises(errors.UserError, match="UNRELATED_CAPTIONS, line 1"):
    read(folder, unrelated="drop")


@pytest.fixture(scope="module")
def distributed():
  if not os.environ.get("GCAP_DATA"):
    pytest.skip("GCAP_DATA is not set: the dataset's own files are read where they are")
  folder = pathlib.Path(os.environ["GCAP_DATA"])
  if not (folder / "flickr30k_entities").is_dir():
    pytest.skip("GCAP_DATA holds no flickr30k_entities")
  return folder


def test_every_distributed_record_parses_and_is_valid(distributed):
  classes = object_words.ObjectClasses.load(distributed / "flickr30k_class_name.txt")
  counts = collections.Counter()
  source = flickr_entities.FlickrEntities(distributed / "flickr30k_entities", classes)
  for record in source.read(progress=False):
    validation.check_record(record, "Flickr30k Entities")
    counts["pictures"] += 1
    counts[record.split] += 1
    counts["captions"] += len(record.captions)
    counts["phrases"] += sum(len(caption.phrases) for caption in record.captions)
    counts["objects"] += sum(len(caption.objects) for caption in record.captions)
    counts["boxes"] += len(record.annotated)
    counts["unlabelled"] += sum(not thing.label for thing in record.annotated)
  # Counted once with a separate script that shares no code with the reader: 542,248
  # mentions, of which 4 are punctuation.
  assert counts["pictures"] == 30_783
  assert (counts["train"], counts["val"]) == (29_783, 1_000)
  assert counts["captions"] == 153_915
  assert counts["phrases"] == 542_248 - 4
  assert counts["boxes"] == 267_436
  assert counts["unlabelled"] == 10  # Their chains occur in no caption.
  # 386,239 when this was written; lemmas of rare words may still change.
  assert 384_000 < counts["objects"] < 389_000


def test_default_classes_of_the_distributed_data_are_those_of_the_field(distributed):
  known = object_words.ObjectClasses.load(distributed / "flickr30k_class_name.txt").names
  found = flickr_entities.FlickrEntities(distributed / "flickr30k_entities").classes.names
  assert len(set(known) & set(found)) > 0.95 * len(known)
  assert len(found) < 1.1 * len(known)


def test_boxes_of_the_distributed_data_lie_in_their_pictures(distributed):
  source = flickr_entities.FlickrEntities(distributed / "flickr30k_entities", CLASSES)
  for image_id in source.image_ids("val")[:200]:
    record = source.record(image_id)
    for thing in record.annotated:
      assert (thing.box_px >= 0).all()
      assert (thing.box_px[2:] <= np.array([record.width - 1, record.height - 1])).all()
  assert source.boxes_clipped == 0
