"""Command-line programs for preparing data, training and evaluating."""
