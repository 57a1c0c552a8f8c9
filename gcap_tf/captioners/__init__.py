"""Captioners that return the region of each word."""
