"""All matchers: importing this module fills `base.MATCHERS`."""

from gcap_tf.matchers import base, bfan, pfan, pos_scan, scan, sgraf, vsepp

MATCHERS = base.MATCHERS

__all__ = ["MATCHERS", "bfan", "pfan", "pos_scan", "scan", "sgraf", "vsepp"]
