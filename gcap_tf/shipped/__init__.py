"""The captioner that comes with the package."""
