"""Imports every captioner, so that `CAPTIONERS` knows them all."""

from gcap_tf.captioners import base, updown  # noqa: F401

CAPTIONERS = base.CAPTIONERS
