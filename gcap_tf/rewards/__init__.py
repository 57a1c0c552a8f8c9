"""CIDEr-D and matcher rewards for sequence-level learning."""
