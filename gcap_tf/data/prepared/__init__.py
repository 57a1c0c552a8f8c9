"""Records to shards, and shards to batches."""
