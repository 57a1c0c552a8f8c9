"""Tests of gcap_tf/recipes/settings.py."""

from gcap_tf.recipes import settings


def test_the_detector_of_the_data_decides_the_kind_of_regions():
  def kind(regions, detector=""):
    return settings.setting_of("flickr30k_entities", "test", 1000, regions, detector).regions

  assert kind("store") == kind("source") == "detector"
  assert kind("perfect") == "perfect" and kind("noisy") == "other"
  # Our detector is trained on the dataset's own boxes, others are not.
  assert kind("pictures", "shipped") == "biased"
  assert kind("pictures", "tflite:lite2.tflite") == "detector"


def test_a_part_of_the_pictures_is_another_setting():
  part = settings.setting_of("flickr30k_entities", "test", 247, "store")
  assert part != settings.F30K_TEST
  assert settings.setting_of("flickr30k_entities", "test", 1000, "store") == settings.F30K_TEST


def test_a_setting_reads_as_words():
  assert str(settings.F30K_PERFECT) == "flickr30k_entities test, perfect regions"
  assert str(settings.F30K_VAL) == "flickr30k_entities val"
