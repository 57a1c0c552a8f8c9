"""Tests of gcap_tf.losses."""
