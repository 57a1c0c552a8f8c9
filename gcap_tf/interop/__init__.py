"""Official checkpoints in, official result files out."""
