"""Tests of serving/front."""
