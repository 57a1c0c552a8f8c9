"""Rewards of self-critical training: CIDEr-D, matcher scores, BLEU-4, SPICE."""
