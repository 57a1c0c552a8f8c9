"""Parts of self-critical and contrastive training, which begin with a trained captioner."""
