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

def gcap_test(name, deps = [], data = [], size = "medium", **kwargs):
    """A pytest file run by tools/pytest_main.py, one target per file.

    Args:
      name: the test module without `.py`.
      deps: library targets the test imports.
      data: files the test reads.
      size: Bazel's test size.
      **kwargs: passed on to py_test.
    """
    native.py_test(
        name = name,
        srcs = [name + ".py", "//tools:pytest_main.py"],
        main = "//tools:pytest_main.py",
        args = ["$(location :{}.py)".format(name)],
        data = data + ["@project_python//:installed"],
        deps = deps,
        python_version = "PY3",
        size = size,
        **kwargs
    )
