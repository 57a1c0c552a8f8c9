"""Tests of gcap_tf/runs."""
