import keras
import numpy as np

from gcap_tf.evaluation import detector_evaluation, detector_validation
from gcap_tf.metrics import detection
from gcap_tf.text import object_words
from gcap_tf.vision import annotated_pictures, detector, map_cache
from tests.vision import tiny_photographs


def test_cached_maps_are_judged_as_photographs_are(tmp_path):
  keras.utils.set_random_seed(1)
  model = detector.Detector(tiny_photographs.CONFIG)
  source, folder = tiny_photographs.make(tmp_path)
  classes = object_words.ObjectClasses(tiny_photographs.WORDS)
  annotated, paths = annotated_pictures.read(source, folder, "val", classes)
  ids = [picture.image_id for picture in annotated]
  cache = map_cache.MapCache(tmp_path / "cache", model.backbone, ids, paths, 64, 1).fill()
  validation = detector_validation.Validation(model, cache, annotated, paths, classes.names)
  figures = validation.judge()
  said = detector_evaluation.answers(model, annotated, paths)
  judged = [detector_evaluation.judge(*pair) for pair in zip(annotated, said, strict=True)]
  expected = detection.figures(judged)
  assert set(figures) == set(expected)
  assert figures["recall_100"] == expected["recall_100"]
  drawn = validation.draw()
  assert set(drawn) == {f"regions/{name}" for name in ids}
  assert all(picture.dtype == np.uint8 for picture in drawn.values())
