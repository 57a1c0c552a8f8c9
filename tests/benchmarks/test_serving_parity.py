import numpy as np
import pytest

from benchmarks import serving_parity


@pytest.mark.parametrize(("name", "spread"), [("updown", 1.2), (serving_parity.LABELLED, 0.6)])
def test_server_says_what_the_model_says(name, spread):
  found = serving_parity.compare(40, name, spread=spread)
  assert found["different"] == [], found
  assert found["batches"] < 40, "no two requests ever shared a batch"
  assert found["distinct_captions"] > 5


def test_every_captioner_can_be_compared():
  known = ["adaptive", "cyclical", "distributed", "gvd", "neuraltalk2", "updown"]
  assert sorted(serving_parity.models()) == sorted([*known, serving_parity.LABELLED])


@pytest.mark.parametrize("labelled", [False, True])
def test_pictures_repeat_for_a_seed_and_carry_padding(labelled):
  (_, plain, padded), (_, again, _) = (serving_parity.picture(4, labelled) for _ in range(2))
  content = "labels" if labelled else "features"
  np.testing.assert_array_equal(plain[content], again[content])
  count = plain["num_regions"][0]
  assert padded[content].shape[1] > count
  for name in (content, "boxes"):
    np.testing.assert_array_equal(padded[name][:, :count], plain[name])
