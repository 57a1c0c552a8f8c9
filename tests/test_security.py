"""The source runs no code from files, and docs/security.md names tests that exist."""

# bazel: data = ["//docs:files"]

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("gcap_tf", "trainers", "export", "serving", "benchmarks", "tools")
# Calls that run what a file or a text says, or that write where an archive says.
_FORBIDDEN = re.compile(
  r"(pickle|cPickle|dill|joblib|marshal|shelve)\.(load|loads|open)|yaml\.(load|unsafe_load)"
  r"|os\.(system|popen)|(.*\.)?(extractall|extract_all)|eval|exec|torch\.load"
)
_FORBIDDEN_ARGUMENTS = {"allow_pickle": True, "safe_mode": False, "shell": True}


def faults(source: str) -> list[str]:
  """Forbidden calls of a program."""
  found = []
  for node in ast.walk(ast.parse(source)):
    if not isinstance(node, ast.Call):
      continue
    name = ast.unparse(node.func)
    if _FORBIDDEN.fullmatch(name):
      found.append(f"line {node.lineno}: {name}")
    for argument in node.keywords:
      wrong = _FORBIDDEN_ARGUMENTS.get(argument.arg)
      if wrong is not None and not _is_safely(argument.value, wrong):
        found.append(f"line {node.lineno}: {argument.arg} of {name}")
  return found


def _is_safely(value: ast.expr, wrong: bool) -> bool:
  return isinstance(value, ast.Constant) and value.value is (not wrong)


def test_no_program_runs_code_from_a_file():
  found = {
    str(path.relative_to(ROOT)): wrong
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.py")
    if (wrong := faults(path.read_text(encoding="utf-8")))
  }
  assert not found


@pytest.mark.parametrize(
  "line",
  [
    "pickle.load(file)",
    "np.load(path, allow_pickle=True)",
    "np.load(path, allow_pickle=flag)",
    "keras.models.load_model(path, safe_mode=False)",
    "subprocess.run(text, shell=True)",
    "os.system(text)",
    "zipfile.ZipFile(path).extractall(folder)",
    "eval(text)",
    "torch.load(path)",
  ],
)
def test_such_a_call_would_be_found(line):
  assert faults(line)


def test_what_is_allowed_is_not_found():
  assert not faults("np.load(path, allow_pickle=False); model.eval(); _Unpickler(file).load()")


def test_every_threat_names_tests_that_exist():
  text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
  rows = [line for line in text.splitlines() if re.match(r"\| (?!threat|file \||---)", line)]
  assert len(rows) >= 20
  for row in rows:
    named = re.findall(r"`(tests/[\w/]+\.py)`", row)
    assert named, f"no test: {row}"
    for path in named:
      assert (ROOT / path).is_file() or not (ROOT / "tests" / "serving").is_dir(), path
