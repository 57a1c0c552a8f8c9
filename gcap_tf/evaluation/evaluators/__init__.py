"""Evaluators: one file each; the reports find them in this folder."""
