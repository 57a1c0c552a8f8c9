"""Caption, grounding, attention and retrieval metrics."""
