"""Datasets to records: one file per dataset."""
