import inspect

import pytest

from gcap_tf import errors
from gcap_tf.data import reader, readers


def test_every_dataset_of_the_command_line_has_a_reader():
  assert readers.READERS.names() == [
    "coco",
    "flickr30k_entities",
    "instapic",
    "karpathy",
    "scan_precomp",
  ]


@pytest.mark.parametrize("name", readers.READERS.names())
def test_readers_share_their_first_options(name):
  cls = readers.READERS.get(name)
  assert issubclass(cls, reader.Reader)
  assert list(inspect.signature(cls).parameters)[:3] == ["source", "classes", "merge"]


def test_records_are_read_by_the_dataset_name(tmp_path):
  (tmp_path / "train.tsv").write_text("1.png\tfog\n2.png\train\n")
  found = readers.read("instapic", tmp_path, max_images=1, progress=False)
  assert [record.image_id for record in found] == ["1"]


def test_an_unknown_dataset_lists_the_known_ones(tmp_path):
  with pytest.raises(errors.UserError, match=r'unknown dataset "cocoo"; .*did you mean "coco"'):
    readers.open_source("cocoo", tmp_path)
