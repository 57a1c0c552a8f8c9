"""Tests of trainers/tagger."""
