"""Tests of gcap_tf/training/fine_tuning."""
