"""Tests of trainers/results.py."""

import pytest

from gcap_tf import errors, files
from trainers import results


def test_tables_stand_in_the_order_of_their_names(tmp_path):
  table = {"data": "scenes", "split": "val", "scale": "smoke", "columns": [["cider", "CIDEr"]]}
  table |= {"commands": ["python -m trainers.reproduce"], "rows": [], "claims": []}
  files.write_json(tmp_path / "2.json", {**table, "paper": "last"})
  files.write_json(tmp_path / "1.json", {**table, "paper": "first"})
  page = results.page(tmp_path)
  assert page.index("## first: scenes, val split") < page.index("## last: scenes, val split")


def test_a_folder_without_tables_is_named(tmp_path):
  with pytest.raises(errors.UserError, match="has no tables"):
    results.page(tmp_path)
