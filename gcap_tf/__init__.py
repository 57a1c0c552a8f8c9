"""Grounded image captioning in TensorFlow: every noun points at its region."""
