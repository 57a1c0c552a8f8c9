import numpy as np
import pytest
import tensorflow as tf

from gcap_tf import errors
from gcap_tf.data.prepared import pipeline
from gcap_tf.matchers import pos_scan
from gcap_tf.runs import run_folders
from gcap_tf.training import teacher_cache
from tests.data import make_records


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
  folder = tmp_path_factory.mktemp("teacher")
  data = make_records.prepare_small(folder / "data", train=4, captions=2)
  vocabulary = data.build_vocabulary("matcher", 1)
  cls = pos_scan.POSSCANMatcher
  config = cls.Config(vocabulary_size=vocabulary.size, feature_size=8, word_size=6, joint_size=8)
  model = run_folders.make_model("matcher", "pos_scan", config)
  run = run_folders.Run(folder / "run", "matcher", "pos_scan", model, vocabulary, {})
  return run, data.split("train")


def directly(run, split):
  """Caption id -> [slots, regions], from the matcher itself."""
  config = pipeline.BatchConfig(images=3, items="caption", max_words=0, shuffle=False)
  found = {}
  for batch in pipeline.evaluation_batches(split, run.vocabulary, config):
    model = run.model
    attention = model.attention(model.encode_images(batch), model.encode_captions(batch))
    for n, caption in enumerate(batch["caption_id"].numpy()):
      found[caption.decode()] = attention[n].numpy()
  return found


def test_word_t_of_a_caption_has_what_the_matcher_gave_at_slot_t_plus_1(setting):
  run, split = setting
  cache = teacher_cache.open_or_compute(run, split, images=3)
  expected = directly(run, split)
  assert len(cache) == len(expected) == 8
  record = split.record(1)
  nonzero = 0
  for caption in record.captions:
    rows = cache.get(caption.caption_id)
    assert rows.shape == (len(caption.tokens), record.regions.count)
    reference = expected[caption.caption_id][1 : len(rows) + 1, : rows.shape[1]]
    np.testing.assert_allclose(rows, reference, atol=1e-6)
    nonzero += (rows.sum(-1) > 0).sum()
  assert nonzero > 0


def test_an_existing_cache_is_read_and_not_computed(setting, monkeypatch):
  run, split = setting
  first = teacher_cache.open_or_compute(run, split)
  monkeypatch.setattr(teacher_cache, "_compute", None)
  again = teacher_cache.open_or_compute(run, split)
  assert again.folder == first.folder and len(again) == len(first)


def test_other_weights_make_another_cache(setting):
  run, split = setting
  before = teacher_cache.fingerprint(run.model, run.vocabulary, split)
  variable = run.model.trainable_variables[0]
  old = variable.numpy()
  variable.assign(old + 1.0)
  assert teacher_cache.fingerprint(run.model, run.vocabulary, split) != before
  variable.assign(old)
  assert teacher_cache.fingerprint(run.model, run.vocabulary, split) == before


def test_batches_carry_the_cached_attention_at_the_captioners_slots(setting):
  run, split = setting
  cache = teacher_cache.open_or_compute(run, split)
  words = split.data.build_vocabulary("captioner", 1)
  config = pipeline.BatchConfig(images=2, captions_per_image=2)
  batch = next(iter(pipeline.training_batches(split, words, config, teacher=cache)))
  assert batch["teacher_attention"].shape[:2] == batch["tokens"].shape
  caption = batch["caption_id"][0].numpy().decode()
  rows = cache.get(caption)
  found = batch["teacher_attention"][0, : len(rows), : rows.shape[1]]
  np.testing.assert_allclose(found, rows)
  assert float(tf.reduce_sum(batch["teacher_attention"])) > 0


def test_an_unknown_caption_is_named(setting):
  run, split = setting
  with pytest.raises(errors.UserError, match='no caption "nonsense"'):
    teacher_cache.open_or_compute(run, split).get("nonsense")
