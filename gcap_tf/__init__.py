"""Grounded image captioning in TensorFlow: every noun points at its region."""

import os

# TensorFlow turns oneDNN on for some CPUs only; steps were faster with it where it does not
# (docs/speed.md). TensorFlow reads this when it is imported.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
