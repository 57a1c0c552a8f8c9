import collections
import hashlib

from gcap_tf.vision import folds


def test_a_fold_is_the_hash_of_the_id():
  first_bytes = hashlib.sha256(b"1000092795").hexdigest()[:16]
  assert folds.fold("1000092795", 4) == int(first_bytes, 16) % 4


def test_folds_are_about_equal():
  counts = collections.Counter(folds.fold(str(number), 4) for number in range(4000))
  assert sorted(counts) == [0, 1, 2, 3]
  assert max(counts.values()) - min(counts.values()) < 150
