"""Lets Debian's Bazel 4.2.3 build offline without touching newer Bazels."""

_STUBS = ["rules_cc", "rules_java", "remote_coverage_tools"]

def _is_old_bazel():
    version = native.bazel_version
    return not version or int(version.split(".")[0]) < 5

def declare_stubs_for_old_bazel():
    """Declares local stand-ins for the repositories Bazel 4 would download.

    Debian's build has an empty version string and no network at build time; the
    stand-ins are aliases of native rules. Bazel 5 and later resolve their own.
    """
    if _is_old_bazel():
        for name in _STUBS:
            native.local_repository(
                name = name,
                path = "tools/bazel/stubs/" + name,
            )
