"""Tests of gcap_tf/decoding."""
