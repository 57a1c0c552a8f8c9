"""Tests of trainers/study."""
