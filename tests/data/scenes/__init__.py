"""Tests of gcap_tf/data/scenes."""
