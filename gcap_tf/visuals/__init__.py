"""Draws grounded captions, attention and curves; writes TensorBoard summaries."""
