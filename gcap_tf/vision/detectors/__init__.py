"""Other people's detectors: boxes, labels and scores of pictures."""
