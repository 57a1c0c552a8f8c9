"""Tests of gcap_tf/captioners."""
