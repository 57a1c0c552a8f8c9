import types

import numpy as np
import pytest

from gcap_tf import errors
from gcap_tf.data.prepared import feature_layout
from gcap_tf.text import vocabulary as vocabularies
from gcap_tf.training import label_teacher

# Two maps, three labels (dog, man, tree), a score: features [I, R, 6].
_LAYOUT = feature_layout.FeatureLayout(
  {"map_8": (0, 2), "labels": (2, 5), "score": (5, 6)}, ("dog", "man", "tree")
)
_WORDS = vocabularies.Vocabulary.build(
  [["a", "dogs", "man", "runs", "kite"]], "captioner", min_count=1
)


def _batch():
  """One picture of three regions: a sure dog, a doubtful dog, a man."""
  probs = np.array([[0.9, 0.1, 0.0], [0.3, 0.7, 0.0], [0.0, 1.0, 0.0]], np.float32)
  features = np.concatenate([np.ones((3, 2)), 4 * np.sqrt(probs), np.ones((3, 1))], 1)
  scores = np.array([[0.5, 0.5, 0.8]], np.float32)
  return {"features": features[None].astype(np.float32), "region_scores": scores}


def _tokens(*words):
  return np.array([[_WORDS.ids[word] for word in words]], np.int32)


def test_named_words_attend_by_label_and_objectness():
  teacher = label_teacher.LabelTeacher(_LAYOUT, _WORDS, 2.0)
  given = np.full((1, 3, 3), 1 / 3, np.float32)
  alpha = teacher(_batch(), _tokens("a", "dogs", "man"), given).numpy()
  np.testing.assert_allclose(alpha[0, 0], 1 / 3)  # "a" names nothing
  dog = np.array([0.9 * 0.5, 0.3 * 0.5, 0.0]) ** 2
  np.testing.assert_allclose(alpha[0, 1], dog / dog.sum(), rtol=1e-5)
  man = np.array([0.1 * 0.5, 0.7 * 0.5, 0.8]) ** 2
  np.testing.assert_allclose(alpha[0, 2], man / man.sum(), rtol=1e-5)


def test_a_word_that_the_teacher_leaves_out_stays_out():
  teacher = label_teacher.LabelTeacher(_LAYOUT, _WORDS, 2.0)
  alpha = teacher(_batch(), _tokens("dogs", "man"), np.zeros((1, 2, 3), np.float32))
  np.testing.assert_array_equal(alpha, 0.0)


def test_a_label_that_no_region_has_leaves_the_teacher():
  batch = _batch()
  batch["features"][..., 2] = 0.0
  given = np.array([[[0.2, 0.3, 0.5]]], np.float32)
  alpha = label_teacher.LabelTeacher(_LAYOUT, _WORDS, 2.0)(batch, _tokens("dogs"), given)
  np.testing.assert_allclose(alpha, given)


def test_captions_of_a_picture_share_its_regions():
  batch = {name: np.concatenate([value, value[:, ::-1]]) for name, value in _batch().items()}
  tokens = np.concatenate([_tokens("dogs"), _tokens("man"), _tokens("dogs"), _tokens("man")])
  given = np.full((4, 1, 3), 1 / 3, np.float32)
  alpha = label_teacher.LabelTeacher(_LAYOUT, _WORDS, 1.0)(batch, tokens, given).numpy()
  np.testing.assert_allclose(alpha[2:], alpha[:2, :, ::-1], rtol=1e-6)


def test_data_without_labels_is_refused():
  data = types.SimpleNamespace(info={}, folder="data", has_scores=False)
  assert label_teacher.create(data, _WORDS, 0.0) is None
  with pytest.raises(errors.UserError, match="no distribution of labels"):
    label_teacher.create(data, _WORDS, 2.0)
