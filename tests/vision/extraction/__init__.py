"""Tests of gcap_tf.vision.extraction."""
