"""Losses as pure functions, one file for each idea."""
