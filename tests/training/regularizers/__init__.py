"""Tests of gcap_tf/training/regularizers."""
