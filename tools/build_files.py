"""Writes the BUILD files from the imports, so that dependencies are true.

    python tools/build_files.py           rewrite every generated BUILD file
    python tools/build_files.py --check   exit 1 and name the files that are out of date

One library target per file, one test target per folder of test files: a program takes 1 s to start,
and 5 s more if it imports TensorFlow. A file names what it reads in a comment line such as

    # bazel: data = ["//gcap_tf/text:english_tagger"]

A test file that names a `size`, too, is a target of its own.

What stands below the marker line in a BUILD file is written by hand and kept.
A package is visible only to packages above it in tools/bazel/layers.bzl, so an import that goes
upwards (`matchers` importing `serving`) fails in Bazel's analysis.
"""

import argparse
import ast
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = 100
MARKER = "# Written by hand below this line; kept by tools/build_files.py."
TOPS = ("gcap_tf", "export", "serving", "trainers", "benchmarks", "tests")
# Folders of tests that share one process; elsewhere every file runs in a fork of one process.
SHARED = (
  *("benchmarks/peers", "captioners", "data", "data/prepared", "data/readers", "data/scenes"),
  *("data/stores", "decoding", "evaluation", "evaluation/evaluators", "export", "interop"),
  *("layers", "losses", "matchers", "metrics", "metrics/activitynet", "metrics/answers"),
  *("metrics/bootstrap", "metrics/java_scorers", "recipes", "rewards", "runs", "serving"),
  *("serving/contract", "serving/front", "serving/wire", "shipped", "text", "trainers"),
  *("trainers/gallery", "trainers/study", "trainers/tagger", "training"),
  *("training/fine_tuning", "training/methods", "training/regularizers", "visuals"),
)
# Folders of slow tests: their files are dealt to this many programs.
SHARDS = {
  **{"benchmarks": 2, "benchmarks/reliability": 2, "captioners": 2, "export": 2, "serving": 3},
  **{"trainers": 3, "vision": 2},
}
LAYERS_FILE = ROOT / "tools" / "bazel" / "layers.bzl"
_CONSTANTS = {
  ast.unparse(node.targets[0]): node.value
  for node in ast.parse(LAYERS_FILE.read_text(encoding="utf-8")).body  # Starlark is Python here.
  if isinstance(node, ast.Assign)
}
LAYERS: dict[str, int] = ast.literal_eval(_CONSTANTS["LAYERS"])
API: list[str] = ast.literal_eval(_CONSTANTS["API"])


def layer_of(folder: str) -> str:
  """The entry of LAYERS that `folder` belongs to (itself or its nearest parent)."""
  while folder not in LAYERS:
    folder = folder.rpartition("/")[0]
    if not folder:
      raise SystemExit("tools/build_files.py: add the new package to LAYERS")
  return folder


def python_files() -> dict[str, pathlib.Path]:
  """Module name -> file, for every Python file under the top folders."""
  found = {}
  for top in TOPS:
    for path in sorted((ROOT / top).rglob("*.py")):
      found[".".join(path.relative_to(ROOT).with_suffix("").parts)] = path
  return found


def label(path: pathlib.Path) -> str:
  folder = path.parent.relative_to(ROOT).as_posix()
  name = "package" if path.name == "__init__.py" else path.stem
  return f"//{folder}:{name}"


@functools.cache
def named_modules(path: pathlib.Path) -> frozenset[str]:
  """Dotted names that `path` imports or writes as a string, anywhere in the file."""
  found: set[str] = set()
  for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
    if isinstance(node, ast.Import):
      found.update(alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0:
      found.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
      found.add(node.value)  # A program started by name: `python -m trainers.caption`.
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "registry.import_modules":
      # `registry.import_modules("gcap_tf.x")` imports every module of that folder.
      found.add(f"{ast.literal_eval(node.args[0])}.*")
  return frozenset(found)


def imported_modules(path: pathlib.Path, modules: dict[str, pathlib.Path]) -> set[str]:
  """The project's modules that `path` imports or names."""
  named = named_modules(path)
  folders = {name.removesuffix(".*") for name in named if name.endswith(".*")}
  return {
    name
    for name in modules
    if name in named
    or name.removesuffix(".__init__") in named
    or name.rpartition(".")[0] in folders
  }


def check_lowest(modules: dict[str, pathlib.Path]) -> None:
  """Bazel lets gcap_tf itself see what is above it, for its API: no other file of it may."""
  for path in sorted((ROOT / "gcap_tf").glob("*.py")):
    upwards = [
      name
      for name in imported_modules(path, modules)
      if modules[name].parent != ROOT / "gcap_tf" and path.stem not in API
    ]
    if upwards:
      raise SystemExit(f"gcap_tf/{path.name} imports {upwards[0]}, which is above it")


def extra_attributes(path: pathlib.Path) -> list[str]:
  """The attributes of `# bazel:` comment lines."""
  return re.findall(r"^# bazel: (.*?),?(?:  # .*)?$", path.read_text(encoding="utf-8"), re.M)


def depends(paths: list[pathlib.Path], modules: dict[str, pathlib.Path]) -> list[str]:
  """The `deps` attribute of a target made of `paths`, which are in one folder."""
  deps = set()
  for path in paths:
    deps |= {label(modules[name]) for name in imported_modules(path, modules)}
    parent = path.parent if path.name != "__init__.py" else path.parent.parent
    if (parent / "__init__.py").exists():
      deps.add(label(parent / "__init__.py"))
  deps -= {label(path) for path in paths}
  folder = label(paths[0]).partition(":")[0]
  deps = {dep for dep in deps if not _is_implied(dep, deps)}
  shown = sorted(dep.removeprefix(folder) if dep.startswith(folder + ":") else dep for dep in deps)
  return [_list("deps", shown)] if shown else []


def _is_implied(dep: str, deps: set[str]) -> bool:
  """Whether `dep` is the package of a folder from which, or from below which, another dep comes.

  Every target depends on the package of its folder, and that on the one above.
  """
  folder, _, name = dep.partition(":")
  inside = (f"{folder}:", f"{folder}/")
  return name == "package" and any(other != dep and other.startswith(inside) for other in deps)


def _list(name: str, values: list[str]) -> str:
  """An attribute, on one line if it fits."""
  quoted = [f'"{value}"' for value in values]
  line = f"{name} = [{', '.join(quoted)}]"
  if len(line) <= COLUMNS - 5:  # Four spaces and a comma are around it.
    return line
  return f"{name} = [\n" + "".join(f"        {value},\n" for value in quoted) + "    ]"


def _call(rule: str, attributes: list[str]) -> str:
  """A target, on one line if it fits."""
  line = f"{rule}({', '.join(attributes)})\n"
  if "\n" not in line[:-1] and len(line) <= COLUMNS + 1:
    return line
  return f"{rule}(\n" + "".join(f"    {attribute},\n" for attribute in attributes) + ")\n"


def target(path: pathlib.Path, modules: dict[str, pathlib.Path]) -> str:
  folder, _, name = label(path).partition(":")
  rule, attributes = "gcap_library", [f'name = "{name}"']
  if path.name == "__init__.py":
    attributes.append('srcs = ["__init__.py"]')
  elif path.name.startswith("test_") and is_alone(path):
    rule = "gcap_test"
  elif re.search(r'^if __name__ == "__main__":', path.read_text(encoding="utf-8"), re.M):
    rule = "gcap_binary"
  if folder.startswith("//tests") and rule != "gcap_test":
    attributes.append("testonly = True")
  return _call(rule, [*attributes, *extra_attributes(path), *depends([path], modules)])


def is_alone(path: pathlib.Path) -> bool:
  """Whether a test file is a target of its own."""
  return any("size = " in text for text in extra_attributes(path))


def group(paths: list[pathlib.Path], modules: dict[str, pathlib.Path]) -> str:
  """One target for the test files of a folder."""
  attributes = ['name = "tests"', 'size = "large"', _list("files", [path.name for path in paths])]
  folder = paths[0].parent.relative_to(ROOT / "tests").as_posix()
  if folder not in SHARED:
    attributes.append("apart = True")
  if folder in SHARDS:
    attributes.append(f"shard_count = {SHARDS[folder]}")
  data = {name for path in paths for text in extra_attributes(path) for name in _data(text)}
  if data:
    attributes.append(_list("data", sorted(data)))
  return _call("gcap_test", [*attributes, *depends(paths, modules)])


def _data(text: str) -> list[str]:
  """The labels of `data = [..]`."""
  return ast.literal_eval(text.removeprefix("data = "))


def build_file(
  folder: pathlib.Path, modules: dict[str, pathlib.Path], imported: set[pathlib.Path]
) -> str:
  """The content of a BUILD file.

  Args:
    folder: where it is.
    modules: all of the project.
    imported: files of them that others import; a test file of these is a library, too.
  """
  paths = sorted(folder.glob("*.py"))
  grouped = [path for path in paths if path.name.startswith("test_") and not is_alone(path)]
  targets = [target(path, modules) for path in paths if path not in grouped or path in imported]
  if grouped:
    targets.append(group(grouped, modules))
  rules = sorted({text.partition("(")[0] for text in targets})
  loads = ", ".join(f'"{rule}"' for rule in rules)
  layer = layer_of(folder.relative_to(ROOT).as_posix())
  old = folder / "BUILD"
  kept = ""
  if old.exists():
    kept = old.read_text(encoding="utf-8").partition(MARKER)[2]
  return (
    "# Generated by tools/build_files.py from the imports.\n"
    f'load("//tools/bazel:defs.bzl", {loads})\n'
    'load("//tools/bazel:layers.bzl", "visible_from")\n\n'
    f'package(default_visibility = visible_from("{layer}"))\n\n'
    + "\n".join(targets)
    + (f"\n{MARKER}{kept}" if kept.strip() else "")
  )


def main(argv: list[str]) -> int:
  parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
  parser.add_argument("--check", action="store_true", help="only report, write nothing")
  check_only = parser.parse_args(argv).check
  modules = python_files()
  check_lowest(modules)
  imported = {
    modules[name] for path in modules.values() for name in imported_modules(path, modules)
  }
  wanted = {}
  for folder in sorted({path.parent for path in modules.values()}):
    wanted[folder / "BUILD"] = build_file(folder, modules, imported)
  stale = []
  for path, text in wanted.items():
    if not path.exists() or path.read_text(encoding="utf-8") != text:
      stale.append(path.relative_to(ROOT).as_posix())
      if not check_only:
        path.write_text(text, encoding="utf-8")
  if stale:
    print(("out of date: " if check_only else "wrote ") + ", ".join(stale))
  return 1 if check_only and stale else 0


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
