"""Servers, clients, configurations and the page."""

import gcap_tf  # before TensorFlow, whose kernels it chooses
