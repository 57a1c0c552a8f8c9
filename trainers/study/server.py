"""Serves the human study on this machine and keeps its answers in one JSON-lines file.

GET  /?rater=1            the page
GET  /items?rater=1       the words that this rater has not judged yet
GET  /pictures/ID         a photograph
POST /answers             {"item": KEY, "rater": 1, "answer": "A" | "B" | "equal"}
"""

import http.server
import json
import os
import pathlib
import threading
import urllib.parse
from collections.abc import Sequence
from typing import Any

from gcap_tf import errors
from gcap_tf.evaluation import human_study
from trainers.study import page

_LARGEST_ANSWER = 10_000
_SUFFIXES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png"}


class Study:
  """The words and the answers so far; safe for several raters at once.

  Args:
    items: the words.
    answers: the JSON-lines file.
    pictures: folder of the photographs, ID.jpg or ID.png.
  """

  def __init__(
    self, items: Sequence[human_study.Item], answers: pathlib.Path, pictures: pathlib.Path
  ):
    self.items, self.answers, self.pictures = list(items), answers, pictures
    self._known = {item.key: item for item in items}
    self._lock = threading.Lock()
    self._judged = {(found["item"], found["rater"]) for found in read_answers(answers)}

  def left(self, rater: int) -> list[dict[str, Any]]:
    """What a rater has still to judge, without what distinguishes the models."""
    own = [item for item in self.items if rater in item.raters]
    if not own:
      raters = sorted({number for item in self.items for number in item.raters})
      raise errors.UserError(f"no rater {rater}; raters are {raters[0]} to {raters[-1]}")
    shown = ("key", "image_id", "sentence", "index", "word", "a", "b")
    with self._lock:
      waiting = [item for item in own if (item.key, rater) not in self._judged]
    return [{name: getattr(item, name) for name in shown} for item in waiting]

  def add(self, answer: dict[str, Any]) -> None:
    """Appends an answer; it is on disk when this returns."""
    found = human_study.check_answer(self._known, answer)
    with self._lock, self.answers.open("a", encoding="utf-8") as file:
      file.write(json.dumps(found) + "\n")
      file.flush()
      os.fsync(file.fileno())
      self._judged.add((found["item"], found["rater"]))

  def picture(self, image_id: str) -> tuple[str, bytes]:
    """The type and the bytes of a photograph of the study."""
    if any(item.image_id == image_id for item in self.items):
      for suffix, kind in _SUFFIXES.items():
        path = self.pictures / f"{image_id}{suffix}"
        if path.is_file():
          return kind, path.read_bytes()
    raise errors.UserError(f"no photograph of picture {image_id} in {self.pictures}")


def read_answers(path: pathlib.Path) -> list[dict[str, Any]]:
  """The answers of a JSON-lines file; a last line that was cut off is left out."""
  if not path.exists():
    return []
  found = []
  lines = path.read_text(encoding="utf-8").split("\n")
  for number, line in enumerate(lines):
    try:
      found += [json.loads(line)] if line.strip() else []
    except json.JSONDecodeError:
      if number < len(lines) - 1:
        raise errors.UserError(f"{path}, line {number + 1}: not JSON; mend or remove it") from None
  return found


def make_server(study: Study, host: str, port: int) -> http.server.ThreadingHTTPServer:
  """A server that answers until it is shut down; port 0 takes a free one."""

  class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
      address = urllib.parse.urlsplit(self.path)
      if address.path == "/":
        self._reply(200, "text/html; charset=utf-8", page.HTML.encode())
      elif address.path == "/items":
        self._try(lambda: self._json(study.left(_rater(address.query))))
      elif address.path.startswith("/pictures/"):
        image_id = urllib.parse.unquote(address.path.removeprefix("/pictures/"))
        self._try(lambda: self._reply(200, *study.picture(image_id)))
      else:
        self._reply(404, "text/plain", b"no such page")

    def do_POST(self):
      size = int(self.headers.get("Content-Length") or 0)
      if self.path != "/answers" or not 0 < size <= _LARGEST_ANSWER:
        self._reply(400, "text/plain", b"expected an answer")
        return
      body = self.rfile.read(size)
      self._try(lambda: (study.add(_answer(body)), self._json({})))

    def _try(self, act) -> None:
      try:
        act()
      except errors.UserError as error:
        self._reply(400, "text/plain; charset=utf-8", str(error).encode())

    def _json(self, value: Any) -> None:
      self._reply(200, "application/json", json.dumps(value).encode())

    def _reply(self, status: int, kind: str, body: bytes) -> None:
      self.send_response(status)
      self.send_header("Content-Type", kind)
      self.send_header("Content-Length", str(len(body)))
      self.end_headers()
      self.wfile.write(body)

    def log_message(self, *_):
      """Prints nothing for each request."""

  return http.server.ThreadingHTTPServer((host, port), Handler)


def _rater(query: str) -> int:
  given = urllib.parse.parse_qs(query).get("rater", [""])[0]
  if not given.isdigit():
    raise errors.UserError("add ?rater=NUMBER to the address")
  return int(given)


def _answer(body: bytes) -> dict[str, Any]:
  try:
    value = json.loads(body)
  except ValueError:
    value = None
  if not isinstance(value, dict):
    raise errors.UserError("an answer is a JSON object")
  return value
