"""Serves the files of the page and of its samples, and no other files."""

# bazel: data = ["//serving/page:files"]

import mimetypes
import pathlib

from serving import status

PAGE_FOLDER = pathlib.Path(__file__).parent / "page"
CONTENT_POLICY = (
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
  "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
  "frame-ancestors 'self'"
)
# Headers of the page, besides those of every answer.
PAGE_HEADERS = {
  "Content-Security-Policy": CONTENT_POLICY,
  "Permissions-Policy": "camera=(self), microphone=(), geolocation=()",
  "Referrer-Policy": "no-referrer",
}


class StaticFiles:
  """Serves `/` and `/page/...` from the package, `/samples/...` from the user's folder."""

  def __init__(self, samples: pathlib.Path | None = None):
    self._roots = {"page": PAGE_FOLDER}
    if samples is not None:
      self._roots["samples"] = samples

  def read(self, path: str) -> tuple[str, bytes]:
    """Returns content type and bytes; NOT_FOUND for anything outside the two folders."""
    path = "/page/index.html" if path == "/" else path
    if path == "/samples/samples.json" and "samples" not in self._roots:
      return "application/json", b"[]"
    top, *parts = path.removeprefix("/").split("/")
    root = self._roots.get(top)
    if root is not None and parts and all(_is_plain(part) for part in parts):
      file = root.joinpath(*parts)
      # A samples folder may contain links to files outside of it, which are not served.
      # The page folder is trusted: Bazel makes every file in it a link.
      is_inside = root == PAGE_FOLDER or file.resolve().is_relative_to(root.resolve())
      if file.is_file() and is_inside:
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        if kind.startswith("text/") or kind == "application/javascript":
          kind += "; charset=utf-8"
        return kind, file.read_bytes()
    raise status.not_found(f"nothing is served at {path}")


def _is_plain(part: str) -> bool:
  return bool(part) and part not in (".", "..") and not any(c in part for c in "%\\\0")
