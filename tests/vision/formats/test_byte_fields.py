import tensorflow as tf

from gcap_tf.vision.formats import byte_fields


def test_bytes_past_the_end_are_zero():
  raw = byte_fields.raw_bytes(tf.constant(b"abc"))
  assert byte_fields.take(raw, 2, 3).numpy().tolist() == [ord("c"), 0, 0]


def test_numbers_in_both_orders():
  values = tf.constant([[1, 2], [0, 3]])
  assert byte_fields.big_endian(values).numpy().tolist() == [258, 3]
  assert byte_fields.little_endian(values).numpy().tolist() == [513, 768]


def test_a_number_beyond_int32_stays_large_and_positive():
  assert byte_fields.big_endian(tf.constant([255, 255, 255, 255])).numpy() == 2**30 - 1


def test_equal_compares_every_byte():
  assert byte_fields.equal(tf.constant([71, 73]), b"GI")
  assert not byte_fields.equal(tf.constant([71, 74]), b"GI")
