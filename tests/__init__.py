"""Tests, in the tree of what they test."""

import gcap_tf  # before TensorFlow, whose kernels it chooses
