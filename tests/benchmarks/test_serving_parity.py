import functools

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


def test_tie_is_where_the_model_alone_differs_from_itself():
  plain = {"features": np.array([[[1.0, 2.0]]], np.float32)}

  def alone(threshold, given):
    word = b"a" if given["features"][0, 0, 0] >= threshold else b"b"
    box = np.zeros((1, 1, 4))
    index, log_prob = np.zeros((1, 1)), np.array([-1.0])
    words = np.array([word], object)
    return {"words": words, "caption": words, "box_index": index, "box": box, "log_prob": log_prob}

  for threshold, tie in ((1.0, True), (0.99, False)):
    model = functools.partial(alone, threshold)
    assert serving_parity.is_tie(model, plain, model(plain), "different") == tie
