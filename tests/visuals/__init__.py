"""Tests of gcap_tf/visuals."""
