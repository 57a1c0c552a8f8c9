"""Speed and fault measurements; each prints ratios taken in one run."""

import gcap_tf  # before TensorFlow, whose kernels it chooses
