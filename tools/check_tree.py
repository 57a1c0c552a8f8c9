"""Checks what no linter checks: the tests, the sizes and the documents of the tree.

- every source file has its test, in the mirrored place under tests/;
- no Python file has more than 350 lines, no folder of sources more than 25 Python files;
- no file is larger than 5 MB, except the weights that ship with the package: 16 MB;
- every file, module and `file.py:function` that a document names exists.
"""

import ast
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ("gcap_tf", "trainers", "export", "serving")
TOPS = (*SOURCES, "benchmarks", "tools", "tests")
MAX_LINES = 350
MAX_FILES = 25
MANY_FILES = ("trainers",)  # one file for each command
MAX_BYTES = 5 << 20
SHIPPED, MAX_SHIPPED_BYTES = "gcap_tf/shipped/", 16 << 20


def tracked() -> list[str]:
  """The files that git tracks and that are in the working tree."""
  names = subprocess.run(
    ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
  ).stdout.split("\0")
  return [name for name in names if name and (ROOT / name).is_file()]


def python_files(names: list[str], *tops: str) -> list[pathlib.PurePosixPath]:
  paths = [pathlib.PurePosixPath(name) for name in names]
  return [path for path in paths if path.suffix == ".py" and path.parts[0] in tops]


def test_of(source: pathlib.PurePosixPath) -> pathlib.PurePosixPath:
  """gcap_tf/losses/ccr.py -> tests/losses/test_ccr.py; serving/client.py -> tests/serving/..."""
  parts = source.parts
  folders = parts[1:-1] if parts[0] == "gcap_tf" else parts[:-1]
  return pathlib.PurePosixPath("tests", *folders, f"test_{parts[-1]}")


def missing_tests(names: list[str]) -> list[str]:
  return [
    f"{source} has no test ({test_of(source)})"
    for source in python_files(names, *SOURCES)
    if not (ROOT / test_of(source)).exists() and not _only_declares(ROOT / source)
  ]


def _only_declares(source: pathlib.Path) -> bool:
  """Whether a file has no behaviour: docstrings, imports, dataclasses, abstract classes."""
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


def oversized(names: list[str]) -> list[str]:
  problems = []
  for name in names:
    limit = MAX_SHIPPED_BYTES if name.startswith(SHIPPED) else MAX_BYTES
    if (ROOT / name).stat().st_size > limit:
      problems.append(f"{name} is over {limit >> 20} MB")
  for path in python_files(names, *TOPS):
    if len((ROOT / path).read_text(encoding="utf-8").splitlines()) > MAX_LINES:
      problems.append(f"{path} is over {MAX_LINES} lines")
  counts: dict[str, int] = {}
  for path in python_files(names, *SOURCES, "benchmarks"):
    counts[str(path.parent)] = counts.get(str(path.parent), 0) + 1
  for folder, count in counts.items():
    if count > MAX_FILES and folder not in MANY_FILES:
      problems.append(f"{folder} has {count} Python files; the limit is {MAX_FILES}")
  return problems


def documents(names: list[str]) -> list[str]:
  """README.md, CONTRIBUTING.md and the pages under docs/."""
  return [n for n in names if n.endswith(".md") and (n.startswith("docs/") or "/" not in n)]


def named_files(text: str) -> set[str]:
  """The files of the project that a document names (NAME is a placeholder) or links to."""
  tops = "|".join((*TOPS, "docs"))
  found = re.findall(rf"(?<![\w/.-])(?:{tops})/[\w/]+\.[a-z]\w+", text)
  return _links(text) | {name for name in found if "NAME" not in name}


def named_modules(text: str) -> set[str]:
  """The modules that a document runs with `python -m`, and the commands that it names."""
  started = set(re.findall(r"-m ((?:\w+\.)+[a-z]\w+)", text))
  commands = re.findall(r"`((?:trainers|export|serving|benchmarks)(?:\.\w+)+)[ `]", text)
  found = started | {name for name in commands if not name.endswith((".md", ".py", ".json"))}
  return {name for name in found if name.partition(".")[0] in TOPS}


def untrue_documents(names: list[str]) -> list[str]:
  problems = []
  for name in documents(names):
    text = (ROOT / name).read_text(encoding="utf-8")
    for file in sorted(named_files(text)):
      places = (ROOT / file, (ROOT / name).parent / file)
      if not any(place.exists() for place in places):
        problems.append(f"{name} names {file}, which does not exist")
    for module in sorted(named_modules(text)):
      if not (ROOT / module.replace(".", "/")).with_suffix(".py").exists():
        problems.append(f"{name} names {module}, which does not exist")
    for file, function in re.findall(r"`([\w/]+\.py):(\w+)`", text):
      if (ROOT / file).exists() and function not in _defined(ROOT / file):
        problems.append(f"{name} names {file}:{function}, which does not exist")
  return problems


def _links(text: str) -> set[str]:
  return set(re.findall(r"\]\(([^)#:]+)\)", text))


def _defined(source: pathlib.Path) -> set[str]:
  nodes = ast.walk(ast.parse(source.read_text(encoding="utf-8")))
  return {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def main() -> int:
  names = tracked()
  problems = [*missing_tests(names), *oversized(names), *untrue_documents(names)]
  for problem in problems:
    print(problem)
  return 1 if problems else 0


if __name__ == "__main__":
  sys.exit(main())
