"""What the bytes of picture files say, read in the graph: kinds, sizes, orientation."""
