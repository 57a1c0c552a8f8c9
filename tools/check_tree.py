"""Checks what no linter checks: tests mirror sources, the equation index is true.

- every source file has its test, in the same place under tests/;
- every `file.py:function` named in docs/equations.md exists, and so does its test file;
- no source file is over 400 lines;
- no file over 5 MB, but for the weights that ship with the package: 16 MB.
"""

import ast
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ("gcap_tf", "trainers", "export", "serving")
MAX_LINES = 400
MAX_BYTES = 5 << 20
SHIPPED, MAX_SHIPPED_BYTES = "gcap_tf/shipped/", 16 << 20


def test_of(source: pathlib.Path) -> pathlib.Path:
  """gcap_tf/losses/ccr.py -> tests/losses/test_ccr.py; serving/client.py -> tests/serving/..."""
  parts = source.relative_to(ROOT).parts
  folders = parts[1:-1] if parts[0] == "gcap_tf" else parts[:-1]
  return ROOT.joinpath("tests", *folders, f"test_{parts[-1]}")


def missing_tests() -> list[str]:
  problems = []
  for top in SOURCES:
    for source in sorted((ROOT / top).rglob("*.py")):
      is_declaration = _only_declares(source)
      if not is_declaration and not test_of(source).exists():
        wanted = test_of(source).relative_to(ROOT)
        problems.append(f"{source.relative_to(ROOT)} has no test ({wanted})")
  return problems


def _only_declares(source: pathlib.Path) -> bool:
  """True for files without behaviour: docstrings, imports, dataclasses, abstract classes."""
  for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
    if isinstance(node, ast.FunctionDef):
      body = [
        statement
        for statement in node.body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
      ]
      if body:
        return False
  return True


def untrue_equations() -> list[str]:
  index = ROOT / "docs" / "equations.md"
  problems = []
  for path, name in re.findall(r"`([\w/]+\.py):(\w+)`", index.read_text(encoding="utf-8")):
    source = ROOT / path
    names = set()
    if source.exists():
      for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
          names.add(node.name)
    if name not in names:
      problems.append(f"docs/equations.md names {path}:{name}, which is not there")
  return problems


def oversized() -> list[str]:
  tracked = subprocess.run(
    ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
  ).stdout.split("\0")
  problems = []
  for name in filter(None, tracked):
    path = ROOT / name
    if not path.is_file():
      continue
    limit = MAX_SHIPPED_BYTES if name.startswith(SHIPPED) else MAX_BYTES
    if path.stat().st_size > limit:
      problems.append(f"{name} is over {limit >> 20} MB")
    if path.suffix == ".py" and len(path.read_text(encoding="utf-8").splitlines()) > MAX_LINES:
      problems.append(f"{name} is over {MAX_LINES} lines")
  return problems


def main() -> int:
  problems = [*missing_tests(), *untrue_equations(), *oversized()]
  for problem in problems:
    print(problem)
  return 1 if problems else 0


if __name__ == "__main__":
  sys.exit(main())
