"""Tests of trainers/results.py."""
# bazel: size = "small"  # Its flags have the names of those of trainers/demo.py.

import pytest

from gcap_tf import errors, files
from trainers import results

TABLE = {
  **{"data": "scenes", "split": "val", "scale": "smoke", "columns": [["cider", "CIDEr"]]},
  **{"commands": ["python -m trainers.reproduce"], "rows": [], "claims": []},
}


def test_tables_stand_in_the_order_of_their_names(tmp_path):
  files.write_json(tmp_path / "2.json", {**TABLE, "paper": "last"})
  files.write_json(tmp_path / "1.json", {**TABLE, "paper": "first"})
  page = results.page(tmp_path)
  assert page.index("## first: scenes, val split") < page.index("## last: scenes, val split")


def test_a_folder_without_tables_is_named(tmp_path):
  with pytest.raises(errors.UserError, match="has no tables"):
    results.page(tmp_path)


def test_an_old_page_is_found(tmp_path):
  tables, out = tmp_path / "tables", tmp_path / "results.md"
  files.write_json(tables / "1.json", {**TABLE, "paper": "first"})
  results.update(tables, out)
  results.update(tables, out, check=True)
  out.write_text(out.read_text() + "Better than ever.")
  with pytest.raises(errors.UserError, match="is not the page of"):
    results.update(tables, out, check=True)
