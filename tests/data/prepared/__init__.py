"""Tests of gcap_tf/data/prepared."""
