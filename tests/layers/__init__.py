"""Tests of gcap_tf.layers."""
