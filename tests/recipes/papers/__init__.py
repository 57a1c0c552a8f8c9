"""Tests of gcap_tf/recipes/papers."""
