"""Reads official checkpoints and writes official result files."""
