"""Tests of gcap_tf/visuals/summaries.py."""

import numpy as np
import tensorflow as tf

from gcap_tf.visuals import summaries


def written(folder, write):
  """Tag -> the one value that `write` put into an event file."""
  writer = tf.summary.create_file_writer(str(folder))
  with writer.as_default(step=3):
    write()
  writer.close()
  (path,) = folder.iterdir()
  values = {}
  for event in tf.compat.v1.train.summary_iterator(str(path)):
    for value in event.summary.value:
      values[value.tag] = value
  return values


def test_pr_curve_keeps_precision_and_recall_and_gives_fitting_counts(tmp_path):
  precision, recall = np.array([0.5, 0.8, 0.0]), np.array([1.0, 0.4, 0.0])
  values = written(tmp_path, lambda: summaries.pr_curve("attention", precision, recall, 10))
  found, wrong, _, missed, *given = tf.make_ndarray(values["attention/pr_curves"].tensor)
  np.testing.assert_allclose(given, [precision, recall], rtol=1e-6)
  np.testing.assert_allclose(found, [10, 4, 0])
  np.testing.assert_allclose(wrong, [10, 1, 0], atol=1e-6)
  np.testing.assert_allclose(found + missed, 10)


def test_options_are_flat_and_of_kinds_that_the_panel_takes(tmp_path):
  config = {"epochs": 3, "losses": {"weight": 0.1, "words": "all"}, "buckets": (8, 12), "x": None}
  assert summaries.flatten(config) == {
    "epochs": 3,
    "losses.weight": 0.1,
    "losses.words": "all",
    "buckets": "8, 12",
  }
  values = written(tmp_path, lambda: summaries.hparams(config, "run"))
  plugin = values["_hparams_/session_start_info"].metadata.plugin_data
  assert plugin.plugin_name == "hparams"
  assert b"losses.weight" in plugin.content
