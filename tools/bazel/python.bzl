"""Registers the project's virtual environment as Bazel's Python toolchain."""

def _interpreter(ctx):
    named = ctx.os.environ.get("GCAP_PYTHON", "")
    if named:
        return named
    in_venv = ctx.path(Label("//:WORKSPACE")).dirname.get_child(".venv").get_child("bin").get_child("python")
    if in_venv.exists:
        return str(in_venv)
    found = ctx.which("python3")
    if not found:
        fail("No Python found: run `make setup`, or set GCAP_PYTHON to an interpreter.")
    return str(found)

def _project_python_impl(ctx):
    python = _interpreter(ctx)
    listing = ctx.execute([python, "-m", "pip", "freeze", "--all"])
    if listing.return_code != 0:
        fail("{} -m pip freeze failed: {}".format(python, listing.stderr))

    # The installed packages are an input of every test: a changed environment
    # is a changed input, so that cached results are never stale.
    ctx.file("installed.txt", listing.stdout)
    ctx.file("BUILD", """
load("@bazel_tools//tools/python:toolchain.bzl", "py_runtime_pair")

exports_files(["installed.txt"])

py_runtime(
    name = "runtime",
    interpreter_path = "{python}",
    python_version = "PY3",
)

py_runtime_pair(
    name = "runtime_pair",
    py3_runtime = ":runtime",
)

toolchain(
    name = "toolchain",
    toolchain = ":runtime_pair",
    toolchain_type = "@bazel_tools//tools/python:toolchain_type",
)

filegroup(
    name = "installed",
    srcs = ["installed.txt"],
    visibility = ["//visibility:public"],
)
""".format(python = python))

project_python = repository_rule(
    implementation = _project_python_impl,
    environ = ["GCAP_PYTHON", "PATH"],
    configure = True,
    local = True,
)
