"""Paired bootstrap of figures over pictures and seeds."""
