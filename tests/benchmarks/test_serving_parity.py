import numpy as np

from benchmarks import serving_parity


def test_server_says_what_the_model_says():
  found = serving_parity.compare(40)
  assert found["different"] == [], found
  assert found["batches"] < 40, "no two requests ever shared a batch"
  assert found["distinct_captions"] > 5


def test_pictures_repeat_for_a_seed_and_carry_padding():
  (_, plain, padded), (_, again, _) = serving_parity.picture(3), serving_parity.picture(3)
  np.testing.assert_array_equal(plain["features"], again["features"])
  count = plain["num_regions"][0]
  np.testing.assert_array_equal(padded["boxes"][:, :count], plain["boxes"])
