"""Greedy, sampling and beam search for any captioner, in-graph, with attention."""
