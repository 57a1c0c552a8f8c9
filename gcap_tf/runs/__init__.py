"""Run folders: configurations, checkpoints, packed weights, model cards."""
