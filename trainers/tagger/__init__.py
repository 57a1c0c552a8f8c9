"""Trains the part-of-speech tagger that is in the package."""
