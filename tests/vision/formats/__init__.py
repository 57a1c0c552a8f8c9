"""Tests of gcap_tf.vision.formats."""
