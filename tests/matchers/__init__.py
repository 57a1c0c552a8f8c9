"""Tests of gcap_tf.matchers."""
