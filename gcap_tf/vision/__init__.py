"""Photographs to regions: decoding, backbones, detectors, region, grid and global features."""
