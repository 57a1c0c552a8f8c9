"""Figures of answers: faults of sentences, right boxes, calibrated confidence."""
