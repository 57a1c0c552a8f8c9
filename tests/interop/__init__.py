"""Tests of gcap_tf.interop."""
