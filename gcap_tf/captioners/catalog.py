"""Imports every captioner, so that `CAPTIONERS` knows them all."""

from gcap_tf.captioners import (  # noqa: F401
  adaptive,
  base,
  cyclical,
  distributed,
  gvd,
  neuraltalk2,
  updown,
)

CAPTIONERS = base.CAPTIONERS
