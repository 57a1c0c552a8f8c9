"""Tests of gcap_tf.metrics."""
