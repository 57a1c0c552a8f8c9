import keras
import numpy as np

from gcap_tf.evaluation import detector_evaluation
from gcap_tf.text import object_words
from gcap_tf.vision import annotated_pictures, canvas, detector, pictures
from tests.vision import tiny_photographs


def test_answers_are_those_of_the_detector_without_padding(tmp_path):
  keras.utils.set_random_seed(1)
  model = detector.Detector(tiny_photographs.CONFIG)
  source, folder = tiny_photographs.make(tmp_path)
  classes = object_words.ObjectClasses(tiny_photographs.WORDS)
  annotated, paths = annotated_pictures.read(source, folder, "val", classes)
  said = list(detector_evaluation.answers(model, annotated, paths))
  placed, content = canvas.place(pictures.read(paths[1]), 64)
  found = model.detect(placed[None], content[None], 100)
  real = found["region_mask"][0].numpy()
  assert len(said[1].boxes) == real.sum() < 100
  np.testing.assert_allclose(said[1].boxes, found["boxes"][0][real], atol=1e-5)
  assert said[1].colours_at.shape == (2, 11) and said[1].colour_probs.shape == (real.sum(), 11)
  judged = detector_evaluation.judge(annotated[1], said[1])
  assert len(judged.sizes) == 2
  assert detector_evaluation.milliseconds(model, paths) > 0
