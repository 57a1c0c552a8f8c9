"""Measurements of speed and of behaviour under faults; ratios are of one run."""

import gcap_tf  # before TensorFlow, because it selects TensorFlow's kernels
