import pickle

import numpy as np
import pytest

from gcap_tf import errors, files
from gcap_tf.data import validation
from gcap_tf.data.readers import precomp

FEATURES = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
CAPTIONS = ["A clown rests.", "Clowns!", "Two pears hang", "pears, ripe"]


@pytest.fixture
def folder(tmp_path):
  np.save(tmp_path / "dev_ims.npy", FEATURES)
  (tmp_path / "dev_caps.txt").write_text("\n".join(CAPTIONS) + "\n")
  return tmp_path


def read(folder, **options):
  splits, most = options.pop("splits", None), options.pop("max_images", None)
  found = list(precomp.Precomp(folder, **options).read(splits, most, progress=False))
  for record in found:
    validation.check_record(record, "made")
  return found


def test_captions_belong_to_the_rows_in_turn(folder):
  first, second = read(folder)
  assert [c.text for c in first.captions] == CAPTIONS[:2]
  assert [c.text for c in second.captions] == CAPTIONS[2:]
  np.testing.assert_array_equal(second.regions.features, FEATURES[1])
  assert [c.caption_id for c in second.captions] == ["dev_1#0", "dev_1#1"]


def test_dev_is_called_val_and_found_by_either_name(folder):
  assert {record.split for record in read(folder)} == {"val"}
  source = precomp.Precomp(folder)
  assert source.splits == ("val",)
  assert source.image_ids("dev") == source.image_ids("val") == ["dev_0", "dev_1"]


def test_captions_are_split_like_the_matchers_do(folder):
  assert read(folder)[0].captions[0].tokens == ("a", "clown", "rests", ".")
  assert read(folder, style="caption")[0].captions[0].tokens == ("a", "clown", "rests")


def test_tags_count_white_space_words(folder):
  (folder / "dev_tags.txt").write_text("DT NN VBZ\nNNS\nCD NNS VBP\nNNS JJ\n")
  caption = read(folder)[0].captions[0]
  assert caption.tokens == ("a", "clown", "rests.")
  assert caption.tags == ("DET", "NOUN", "VERB")


def test_another_style_leaves_the_tags_out(folder):
  (folder / "dev_tags.txt").write_text("DT NN VBZ\nNNS\nCD NNS VBP\nNNS JJ\n")
  caption = read(folder, style="treebank")[0].captions[0]
  assert caption.tokens == ("a", "clown", "rests", ".") and caption.tags == ()


def test_a_row_a_caption_with_repeated_ids_is_one_picture(folder):
  np.save(folder / "dev_ims.npy", np.repeat(FEATURES, 2, axis=0))
  (folder / "dev_ids.txt").write_text("7\n7\n8\n8\n")
  first, second = read(folder)
  assert (first.image_id, len(first.captions)) == ("7", 2)
  assert [c.text for c in second.captions] == CAPTIONS[2:]


def test_word_ids_are_read_with_their_vocabulary(folder):
  (folder / "dev_caps.txt").unlink()
  (folder / "dev_precaps.txt").write_text("1,4,5,2\n1,5,2\n4\n5,3\n")
  words = ["<pad>", "<start>", "<end>", "<unk>", "a", "clown"]
  files.write_json(folder / "f30k_vocab.json", {"word2idx": {w: i for i, w in enumerate(words)}})
  tokens = [caption.tokens for record in read(folder) for caption in record.captions]
  assert tokens == [("a", "clown"), ("clown",), ("a",), ("clown", "<unk>")]


def test_word_ids_without_vocabulary_or_beyond_it_are_refused(folder):
  (folder / "dev_caps.txt").unlink()
  (folder / "dev_precaps.txt").write_text("4\n" * 4)
  with pytest.raises(errors.UserError, match=r"no file \*vocab\*\.json"):
    read(folder)
  words = ["<pad>", "<start>", "<end>", "<unk>"]
  files.write_json(folder / "vocab.json", {"word2idx": {w: i for i, w in enumerate(words)}})
  with pytest.raises(errors.UserError, match=r"dev_precaps\.txt, line 1: '4'; .*below 4"):
    read(folder)


def test_pixel_boxes_come_with_the_size_of_the_picture(folder):
  np.save(folder / "dev_ims_bbx.npy", np.full((2, 2, 4), [2, 3, 20, 30], np.float32))
  with pytest.raises(errors.UserError, match=r"boxes in pixels, but no dev_ims_size\.npy"):
    read(folder)
  np.save(folder / "dev_ims_size.npy", np.array([[40, 30], [50, 60]]))
  record = read(folder)[1]
  assert (record.width, record.height) == (50, 60)
  assert record.regions.boxes_px[0].tolist() == [2, 3, 20, 30]


def test_position_blocks_come_with_the_regions(folder):
  blocks = np.arange(120, dtype=np.float32).reshape(2, 2, 30)
  np.save(folder / "dev_boxes.npy", blocks)
  np.testing.assert_array_equal(read(folder)[1].regions.position_blocks, blocks[1])


def test_regions_can_be_left_to_another_store(folder):
  assert read(folder, regions="drop")[0].regions is None


def test_a_reader_pickles(folder):
  source = precomp.Precomp(folder)
  source.record("dev_0", "val")
  copy = pickle.loads(pickle.dumps(source))
  assert copy.record("dev_1", "val").captions[0].text == CAPTIONS[2]


def test_a_number_of_captions_that_is_no_multiple_is_refused(folder):
  (folder / "dev_caps.txt").write_text("\n".join(CAPTIONS[:3]))
  with pytest.raises(errors.UserError, match=r"dev_caps\.txt has 3 lines, but dev_ims has 2 rows"):
    read(folder)


def test_missing_captions_are_named(folder):
  (folder / "dev_caps.txt").unlink()
  with pytest.raises(errors.UserError, match=r"captions .*dev_caps\.txt does not exist"):
    read(folder)


def test_an_empty_caption_is_named(folder):
  (folder / "dev_caps.txt").write_text("a\n\nb\nc\n")
  with pytest.raises(errors.UserError, match=r"dev_caps\.txt, line 2: a caption without words"):
    read(folder)


def test_tags_that_do_not_match_are_named(folder):
  (folder / "dev_tags.txt").write_text("DT NN VBZ\nNNS NN\nCD NNS VBP\nNNS JJ\n")
  with pytest.raises(errors.UserError, match=r"dev_tags\.txt, line 2: 2 tags for 1 words"):
    read(folder)
  (folder / "dev_tags.txt").write_text("NN\n")
  with pytest.raises(errors.UserError, match=r"dev_tags\.txt has 1 lines, but there are 4"):
    read(folder)
