"""Measurements of speed and of behaviour under faults; ratios are of one run."""

import sys

import gcap_tf  # before TensorFlow, because it selects TensorFlow's kernels
from gcap_tf import quiet

if "--verbose" not in sys.argv:
  quiet.silence_tensorflow()  # Benchmarks import TensorFlow before they parse their flags.
