"""Tests of gcap_tf.text."""
