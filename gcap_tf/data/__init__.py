"""Readers, region stores, simulated detectors, drawn scenes; TFRecord shards in and out."""
