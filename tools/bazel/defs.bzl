"""The two macros that every BUILD file uses: one file, one target."""

def gcap_library(name, srcs = None, **kwargs):
    """A py_library of the one file NAME.py (or `srcs`)."""
    native.py_library(
        name = name,
        srcs = srcs if srcs != None else [name + ".py"],
        srcs_version = "PY3",
        **kwargs
    )

def gcap_binary(name, deps = [], **kwargs):
    """A py_binary of the one file NAME.py."""
    native.py_binary(
        name = name,
        srcs = [name + ".py"],
        python_version = "PY3",
        deps = deps,
        **kwargs
    )

def gcap_test(name, files = None, deps = [], data = [], size = "medium", apart = False, **kwargs):
    """Pytest files run by tools/pytest_main.py.

    Args:
      name: the test module without `.py`, or any name where `files` is given.
      files: the test files; by default NAME.py alone.
      deps: library targets the tests import.
      data: files the tests read.
      size: Bazel's test size.
      apart: whether every file runs in a process of its own.
      **kwargs: passed on to py_test.
    """
    files = files or [name + ".py"]
    native.py_test(
        name = name,
        srcs = files + ["//tools:pytest_main.py"],
        main = "//tools:pytest_main.py",
        args = (["--apart"] if apart else []) + ["$(location :{})".format(file) for file in files],
        data = data + ["@project_python//:installed"],
        deps = deps,
        python_version = "PY3",
        size = size,
        **kwargs
    )
