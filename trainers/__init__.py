"""Command-line programs for preparing data, training and evaluating."""

import os

import gcap_tf  # before TensorFlow, whose kernels it chooses
from gcap_tf import quiet

if quiet.INHERITED in os.environ:  # a worker process of a command
  quiet.silence_tensorflow()
