import pickle

import h5py
import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data import records
from gcap_tf.data.stores import proposal_store


class _Store(proposal_store.ProposalStore):
  item, counts, columns = "picture", "count", ("x1", "y1", "x2", "y2", "score")
  names = ("a", "b")

  def __init__(self, path):
    super().__init__(path)
    self.features = self.folder

  def listed(self):
    return self.folder / "list", {name: row for row, name in enumerate(self.names)}

  def _read(self, image_id):
    kept = self._kept(image_id)
    return records.Regions(kept.proposals[:, :4], kept.features, scores=kept.scores)


@pytest.fixture
def folder(tmp_path):
  proposals = np.zeros((2, 3, 5), np.float32)
  proposals[..., 2:4] = 9
  proposals[0, :, 4], proposals[1, :, 4] = [0.9, 0.1, 0.5], [0.1, 0.05, 0.0]
  with h5py.File(tmp_path / "p.h5", "w") as file:
    file["dets_labels"], file["count"] = proposals, [3, 2]
  np.save(tmp_path / "a.npy", np.arange(6.0).reshape(1, 3, 2))
  np.save(tmp_path / "b.npy", np.ones((2, 2)))
  return tmp_path


def test_proposals_above_the_least_score_are_kept_with_their_features(folder):
  found = _Store(folder).get("a")
  np.testing.assert_allclose(found.scores, [0.9, 0.5])
  np.testing.assert_allclose(found.features, [[0, 1], [4, 5]])


def test_the_best_proposal_stays_in_any_case(folder):
  np.testing.assert_allclose(_Store(folder).get("b").scores, [0.1])


def test_other_processes_open_the_file_again(folder):
  store = _Store(folder)
  store.get("a")
  assert len(pickle.loads(pickle.dumps(store)).get("a").scores) == 2


def test_a_list_of_other_items_is_one_line(folder):
  store = _Store(folder)
  store.names = ("a", "b", "c")
  with pytest.raises(errors.UserError, match=r"lists 3 pictures, but p\.h5 has 2 rows"):
    store.ids()


def test_features_of_other_proposals_are_one_line(folder):
  np.save(folder / "b.npy", np.ones((3, 2)))
  with pytest.raises(errors.UserError, match=r"3 rows, but .*picture b has 2 proposals"):
    _Store(folder).get("b")
