"""Chromium through the W3C WebDriver protocol, with nothing but the standard library."""

import base64
import contextlib
import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import pytest

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
  """One browser window."""

  def __init__(self, address: str):
    self._address = address
    options = {
      "args": [
        *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--no-first-run", "--disable-background-networking", "--window-size=1100,900"),
        # A camera that shows a test picture, and no question whether the page may use it.
        *("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"),
      ]
    }
    capabilities = {"browserName": "chrome", "goog:chromeOptions": options}
    capabilities["goog:loggingPrefs"] = {"browser": "ALL"}
    answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
    self._session = f"/session/{answer['sessionId']}"

  def open(self, url: str) -> None:
    self._post("/url", {"url": url})

  def run(self, script: str, *arguments):
    """The value of a JavaScript function body."""
    return self._post("/execute/sync", {"script": script, "args": list(arguments)})

  def wait_for(self, script: str, seconds: float = 60.0):
    """The first true value of a function body."""
    end = time.monotonic() + seconds
    while not (value := self.run(script)):
      if time.monotonic() > end:
        raise AssertionError(f"waited in vain for {script}; the page says {self.text('body')}")
      time.sleep(0.05)
    return value

  def find(self, selector: str) -> str:
    return self._post("/element", {"using": "css selector", "value": selector})[ELEMENT]

  def text(self, selector: str) -> str:
    return self._get(f"/element/{self.find(selector)}/text")

  def click(self, selector: str) -> None:
    self._post(f"/element/{self.find(selector)}/click", {})

  def type(self, selector: str, text: str) -> None:
    self._post(f"/element/{self.find(selector)}/value", {"text": text})

  def press(self, key: str) -> None:
    actions = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
    self._post("/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

  def hover(self, selector: str) -> None:
    """Moves the mouse to the top left part of an element, where no other lies over it."""
    where = {ELEMENT: self.find(selector)}
    move = {"type": "pointerMove", "origin": where, "x": 0, "y": 0, "duration": 0}
    pointer = {"type": "pointer", "id": "mouse", "actions": [move]}
    self._post("/actions", {"actions": [pointer]})

  @contextlib.contextmanager
  def new_window(self):
    """The window that was opened last, closed again after the block."""
    own = self._get("/window")
    end = time.monotonic() + 60
    while len(handles := self._get("/window/handles")) < 2:
      if time.monotonic() > end:
        raise AssertionError("no window was opened")
      time.sleep(0.05)
    self._post("/window", {"handle": next(h for h in handles if h != own)})
    try:
      yield self
    finally:
      self._call("DELETE", self._session + "/window")
      self._post("/window", {"handle": own})

  def resize(self, width: int, height: int) -> None:
    self._post("/window/rect", {"width": width, "height": height})

  def messages(self) -> list[str]:
    """What was written to the console."""
    return [entry["message"] for entry in self._post("/se/log", {"type": "browser"})]

  def screenshot(self, path: pathlib.Path) -> None:
    path.write_bytes(base64.b64decode(self._get("/screenshot")))

  def close(self) -> None:
    self._call("DELETE", self._session)

  def _post(self, path: str, body: dict):
    return self._call("POST", self._session + path, body)

  def _get(self, path: str):
    return self._call("GET", self._session + path)

  def _call(self, method: str, path: str, body: dict | None = None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(self._address + path, data, method=method)
    try:
      with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())["value"]
    except urllib.error.HTTPError as error:
      raise AssertionError(json.loads(error.read())["value"]["message"]) from None


@contextlib.contextmanager
def chromium():
  """A browser, or a skipped test with the reason where there is none."""
  if not (shutil.which("chromedriver") and (shutil.which("chromium") or shutil.which("chrome"))):
    pytest.skip("chromium and chromedriver are not installed")
  with tempfile.TemporaryFile("w+") as log:
    driver = subprocess.Popen(
      ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=log, text=True
    )
    try:
      port = None
      for line in driver.stdout:
        if "started successfully on port" in line:
          port = int(line.rstrip(".\n").rpartition(" ")[2])
          break
      if port is None:
        pytest.skip("chromedriver does not start here")
      try:
        browser = Browser(f"http://127.0.0.1:{port}")
      except AssertionError as error:
        pytest.skip(f"chromium does not start here: {str(error).splitlines()[0]}")
      yield browser
      browser.close()
    finally:
      driver.terminate()
      driver.wait()
