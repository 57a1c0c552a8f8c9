"""Speed and fault measurements; each prints ratios taken in one run."""
