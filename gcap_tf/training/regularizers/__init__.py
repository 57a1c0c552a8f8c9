"""Regularisers of a captioner's attention: one file each; training finds them in this folder."""
