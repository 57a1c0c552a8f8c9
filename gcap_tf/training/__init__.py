"""The training loop, checkpoints, optimisers and run folders."""
