import numpy as np

from gcap_tf.vision import proposer

_CHANNELS = {8: 3, 16: 4, 32: 5}


def _maps(seed=0):
  rng = np.random.default_rng(seed)
  return [
    rng.normal(size=(2, 64 // s, 64 // s, c)).astype(np.float32) for s, c in _CHANNELS.items()
  ]


def test_every_cell_of_every_map_has_a_logit_and_a_code():
  found = proposer.build(_CHANNELS, 64, 8, 1)(_maps())
  cells = 64 + 16 + 4
  assert found["logits"].shape == (2, cells)
  assert found["codes"].shape == (2, cells, 4)


def test_an_untrained_proposer_holds_nearly_nothing_for_an_object():
  logits = proposer.build(_CHANNELS, 64, 8, 1)(_maps())["logits"].numpy()
  assert logits.max() < -3


def test_fine_cells_know_what_coarse_maps_see():
  model, maps = proposer.build(_CHANNELS, 64, 8, 1), _maps()
  before = model(maps)["logits"].numpy()[:, :64]
  maps[2] = maps[2] + 3
  assert np.abs(model(maps)["logits"].numpy()[:, :64] - before).max() > 1e-6
