"""Ways of learning: captioning, matching, self-critical, contrastive."""
