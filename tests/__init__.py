"""Tests, in the tree of what they test."""
