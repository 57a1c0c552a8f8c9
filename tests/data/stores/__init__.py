"""Tests of gcap_tf/data/stores."""
