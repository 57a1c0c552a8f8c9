"""Tests of gcap_tf.vision.detectors."""
