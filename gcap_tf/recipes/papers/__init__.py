"""The tables of the five papers as experiments."""
