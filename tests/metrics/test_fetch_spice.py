import dataclasses
import functools
import hashlib
import http.server
import threading

import pytest

from gcap_tf import errors
from gcap_tf.metrics import fetch_spice
from gcap_tf.metrics.java_scorers import spice_jars

CONTENT = b"a library"
JAR = spice_jars.Jar("org.example", "thing", "1.0", hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture
def repository(tmp_path, monkeypatch):
  """A Maven repository on this machine with one library; mvn out of reach."""
  monkeypatch.setenv("PATH", "")
  monkeypatch.setattr(spice_jars, "JARS", (JAR,))
  root = tmp_path / "repository"
  (root / JAR.path).parent.mkdir(parents=True)
  (root / JAR.path).write_bytes(CONTENT)

  class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
      pass

  server = http.server.ThreadingHTTPServer(
    ("127.0.0.1", 0), functools.partial(Quiet, directory=str(root))
  )
  threading.Thread(target=server.serve_forever, daemon=True).start()
  yield f"http://127.0.0.1:{server.server_port}/"
  server.shutdown()
  server.server_close()


def test_fetches_what_is_missing_once(repository, tmp_path):
  where = tmp_path / "jars"
  assert fetch_spice.fetch(where, repository) == ["thing-1.0.jar"]
  assert (where / "thing-1.0.jar").read_bytes() == CONTENT
  assert fetch_spice.fetch(where, repository) == []


def test_a_file_with_another_checksum_is_not_kept(repository, tmp_path, monkeypatch):
  monkeypatch.setattr(spice_jars, "JARS", (dataclasses.replace(JAR, sha256="0" * 64),))
  where = tmp_path / "jars"
  with pytest.raises(errors.UserError, match="expected 000"):
    fetch_spice.fetch(where, repository)
  assert list(where.iterdir()) == []


def test_an_address_without_the_file_is_named(repository, tmp_path):
  with pytest.raises(errors.UserError, match=r"could not download .*nowhere/org/example"):
    fetch_spice.fetch(tmp_path / "jars", repository + "nowhere")
