"""The human study of grounding: its page and its server."""
