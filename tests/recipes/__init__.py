"""Tests of gcap_tf.recipes."""
