"""The documents name files that exist, and the way of the data is short."""

# bazel: data = ["//:README.md", "//:CONTRIBUTING.md", "//docs:files", "//tools:check_tree.py"]

import importlib.util
import pathlib
import re

# The real tree, also if Bazel runs a link to this file.
ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_STEPS = 12


def load_check_tree():
  spec = importlib.util.spec_from_file_location("check_tree", ROOT / "tools" / "check_tree.py")
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  return module


def documents() -> list[str]:
  pages = (ROOT / "docs").rglob("*.md")
  return ["README.md", "CONTRIBUTING.md", *(str(page.relative_to(ROOT)) for page in pages)]


def test_every_file_module_and_function_that_a_document_names_exists():
  assert load_check_tree().untrue_documents(documents()) == []


def test_a_wrong_name_in_a_document_is_found(tmp_path, monkeypatch):
  check_tree = load_check_tree()
  (tmp_path / "docs").mkdir()
  (tmp_path / "docs" / "page.md").write_text(
    "See `gcap_tf/no_such.py`, [here](absent.md), `trainers.nothing` and `python -m export.none`."
  )
  monkeypatch.setattr(check_tree, "ROOT", tmp_path)
  found = check_tree.untrue_documents(["docs/page.md"])
  assert len(found) == 4
  assert "docs/page.md names gcap_tf/no_such.py, which does not exist" in found


def test_the_way_from_a_raw_file_to_the_loss_is_short_and_names_its_files():
  text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
  way = text.partition("## From a raw file to the loss\n")[2].partition("\n## ")[0]
  steps = re.split(r"^\d+\. ", way, flags=re.M)[1:]
  assert 5 <= len(steps) <= MOST_STEPS
  for step in steps:
    files = re.findall(r"`([\w/]+\.py)`", step)
    assert files, f"a step names no file: {step}"
    assert all((ROOT / file).is_file() for file in files), step


def test_the_readme_is_short_and_starts_with_a_picture():
  lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
  assert len(lines) <= 90
  picture = re.search(r"!\[[^\]]+\]\((.+)\)", "\n".join(lines[:4]))
  assert (ROOT / picture[1]).stat().st_size < 300_000
