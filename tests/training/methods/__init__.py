"""Tests of gcap_tf/training/methods."""
