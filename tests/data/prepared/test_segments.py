import numpy as np

from gcap_tf.data import records
from gcap_tf.data.prepared import shards
from tests.data import make_records


def test_a_segment_survives_its_shard():
  segment = records.Segment("v_a", "3", 3, 5, 1.5, 2.25, 8.0, 10, (2, 4))
  boxes = tuple(
    records.FrameBox(frame, np.full(4, frame, np.float32), frame, bool(frame % 2))
    for frame in range(3)
  )
  words = (
    records.ObjectWord(0, "cat", boxes[0].box_px, boxes[:2]),
    records.ObjectWord(2, "dog", boxes[2].box_px, boxes[2:]),
  )
  caption = records.Caption("a#0", "Cat sees dog", ("Cat", "sees", "dog"), objects=words)
  thing = records.AnnotatedObject("cat", boxes[1].box_px, "0", (), 1)
  regions = records.Regions(
    boxes_px=np.ones([2, 4], np.float32), frame=np.array([3, 9], np.int32), span=(4, 7)
  )
  record = records.Record("a", "train", 720, 720, (caption,), regions, (thing,), segment=segment)
  found = shards.decode(shards.encode(record))
  assert found.segment == segment
  assert found.annotated[0].frame == 1
  assert found.regions.frame.tolist() == [3, 9] and found.regions.span == (4, 7)
  for word, other in zip(found.captions[0].objects, words, strict=True):
    assert [(b.frame, b.number, b.crowd) for b in word.frame_boxes] == [
      (b.frame, b.number, b.crowd) for b in other.frame_boxes
    ]
    for box, expected in zip(word.frame_boxes, other.frame_boxes, strict=True):
      np.testing.assert_array_equal(box.box_px, expected.box_px)


def test_a_picture_has_no_segment():
  (record,) = make_records.make_records(1)
  found = shards.decode(shards.encode(record))
  assert found.segment is None and found.regions.frame is None
  assert not found.captions[0].objects[0].frame_boxes
