"""Regions of pictures: feature files, detections, simulated detectors."""
