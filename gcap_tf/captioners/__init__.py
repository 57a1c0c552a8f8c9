"""Captioners that say where each word looks."""
