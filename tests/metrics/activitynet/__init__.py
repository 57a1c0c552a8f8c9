"""Tests of gcap_tf/metrics/activitynet."""
