"""Tests of gcap_tf/evaluation/evaluators."""
