"""Drawn pictures with captions and exact boxes."""
