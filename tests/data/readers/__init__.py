"""Tests of gcap_tf/data/readers."""
