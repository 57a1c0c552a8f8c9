"""SavedModels for TensorFlow Serving."""

import gcap_tf  # before TensorFlow, whose kernels it chooses
