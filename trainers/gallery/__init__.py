"""A page of captioned photographs, for `make demo`."""
