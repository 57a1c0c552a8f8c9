"""Tests of shipped."""
