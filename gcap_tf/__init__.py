"""Grounded image captioning in TensorFlow: every noun points at its region."""

import os

# TensorFlow turns oneDNN on for some CPUs only; with it a step is faster on all that were tried,
# and its sums are the same on every one. TensorFlow reads this when it is imported.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
