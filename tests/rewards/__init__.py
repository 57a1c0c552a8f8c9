"""Tests of gcap_tf.rewards."""
