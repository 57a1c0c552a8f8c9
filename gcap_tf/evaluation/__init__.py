"""Runs a model over a split and reports its figures."""
