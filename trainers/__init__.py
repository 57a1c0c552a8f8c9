"""Command-line programs for preparing data, training and evaluating."""

import gcap_tf  # before TensorFlow, whose kernels it chooses
