import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.captioners import distributed, updown
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import greedy
from tests import captioner_harness

SIZES = {
  **{"vocabulary_size": 11, "embedding_size": 8, "hidden_size": 10, "attention_size": 6},
  "feature_size": 7,
}
BATCH = captioner_harness.make_batch()


def make(**options):
  captioner_harness.fix_start()
  sizes = SIZES | {"region_size": 9, "location_size": 8}
  return distributed.DistributedCaptioner(distributed.DistributedConfig(**(sizes | options)))


def test_has_four_branches_that_keep_the_contract():
  assert make().config.branches == 4
  captioner_harness.check_captioner(make, BATCH)


def test_branches_look_at_different_regions():
  model = make(branches=3)
  attention = model.teacher_force(model.encode(BATCH), BATCH["tokens"])["attention"].numpy()
  picks = attention.argmax(-1)  # The first picture has three regions, one for each branch.
  for row in picks.reshape(-1, 3):
    assert len(set(row)) == 3


def test_boxes_enclose_what_the_winning_branches_picked():
  model = make(branches=3)
  decoded = greedy.decode(model, model.encode(BATCH), decode_config.DecodeConfig(max_length=8))
  boxes = BATCH["boxes"].numpy()
  seen = 0
  for n in range(3):
    for t in range(int(decoded["length"][n])):
      won = np.flatnonzero(decoded["winners"][n, t])
      picks = decoded["attention"][n, t].numpy().argmax(-1)[won]
      chosen = boxes[n][picks]
      expected = [*chosen[:, :2].min(0), *chosen[:, 2:].max(0)]
      np.testing.assert_allclose(decoded["box"][n, t], expected)
      assert int(decoded["box_index"][n, t]) == picks[0]
      seen += 1
  assert seen > 0


def test_grown_branches_say_what_the_single_one_said_first():
  single, many = (updown.UpDownCaptioner(updown.UpDownConfig(**SIZES, branches=k)) for k in (1, 3))
  fresh = many.region_attention.score_kernel.numpy()[1:]
  distributed.grow(single, many)
  outputs = [m.teacher_force(m.encode(BATCH), BATCH["tokens"]) for m in (single, many)]
  first = outputs[1]["branch_logits"][:, 0, 0]
  np.testing.assert_allclose(first, outputs[0]["logits"][:, 0], atol=1e-5)
  np.testing.assert_array_equal(many.region_attention.score_kernel.numpy()[1:], fresh)


def test_growing_into_another_size_is_refused():
  with pytest.raises(errors.UserError, match="all options but branches and localizer"):
    distributed.grow(make(branches=1), make(embedding_size=5))


def test_a_localiser_that_the_single_branch_lacks_stays_fresh():
  single, both = make(branches=1), make(branches=2, localizer="linear")
  fresh = both.localizer.maps[0].kernel.numpy()
  single.words.embeddings.assign(single.words.embeddings + 1.0)
  distributed.grow(single, both)
  np.testing.assert_array_equal(both.words.embeddings, single.words.embeddings)
  np.testing.assert_array_equal(both.localizer.maps[0].kernel, fresh)
  with pytest.raises(errors.UserError, match="no such weight"):
    distributed.grow(both, make(branches=2))
