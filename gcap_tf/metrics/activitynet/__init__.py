"""ActivityNet-Entities: its files, its scores, its report."""
