"""Tokenising, vocabulary, part of speech and lemmas."""
