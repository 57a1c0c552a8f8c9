"""The embedded server: the gRPC and REST API of TensorFlow Serving, in Python.

    python -m serving.server [--model_base_path=DIR --port=8500 --rest_api_port=8501]

Without --model_base_path it serves the captioners of the package, with samples on its page. It is
meant for development, tests and small installations. It accepts the requests, configuration files
and folders of TensorFlow Serving, which can replace it without a change to clients
(serving/configs/). It listens on this machine only; --bind changes that.
"""

import contextlib
import dataclasses
import pathlib
import signal
import tempfile
import threading
import time
from typing import TYPE_CHECKING

from absl import flags, logging

from gcap_tf import errors
from serving import server_flags

if TYPE_CHECKING:
  from serving import embedded

FLAGS = flags.FLAGS
_SIGNAL_SECONDS = 0.2


def main(argv: list[str]) -> None:
  del argv
  logging.set_verbosity(logging.INFO)
  config = server_flags.config()
  with contextlib.ExitStack() as kept:
    if not (FLAGS.model_base_path or FLAGS.model_config_file or config.samples):
      folder = pathlib.Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="samples-")))
      write_samples(folder, config.models[0].base_path)
      config = dataclasses.replace(config, samples=folder)
    serve(config)


def write_samples(folder: pathlib.Path, model: pathlib.Path) -> None:
  """Writes free photographs if the model captions them and there are any, else drawn scenes."""
  from serving import free_photographs, samples, servables

  found = free_photographs.find() if servables.captions_photographs(model) else {}
  if found:
    samples.write_photographs(folder, found)
  else:
    samples.write_scenes(folder)


def serve(config: "embedded.ServerConfig") -> None:
  """Serves until SIGTERM or SIGINT."""
  from serving import embedded

  server = embedded.Server(config)
  stop_requested = threading.Event()
  for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda *unused: stop_requested.set())
  server.start()
  if not server.models.ready():
    logging.warning("No version of some model is available yet: %s", server.models.available())
  print(f"gRPC on {server.address}", flush=True)
  if server.rest_port is not None:
    scheme = "https" if server.config.tls else "http"
    print(f"REST and page on {scheme}://{server.rest_address}/", flush=True)
  reread = _ConfigFile(server) if FLAGS.model_config_file_poll_wait_seconds else lambda: None
  # A wait without a timeout can miss a signal that another thread received.
  frozen = None
  while not stop_requested.wait(_SIGNAL_SECONDS):
    reread()
    available = server.models.available()
    if available != frozen:
      embedded.freeze_objects()
      frozen = available
  logging.info("Stopping after the current requests")
  server.stop(FLAGS.drain_seconds)


class _ConfigFile:
  """Reads --model_config_file again every few seconds; a wrong one changes nothing."""

  def __init__(self, server: "embedded.Server"):
    self._server, self._served, self._next = server, server_flags.read_models(), 0.0

  def __call__(self) -> None:
    if time.monotonic() < self._next:
      return
    self._next = time.monotonic() + FLAGS.model_config_file_poll_wait_seconds
    try:
      wanted = server_flags.read_models()
      if wanted != self._served:
        self._server.models.reconfigure(wanted)
        self._served = wanted
    except Exception as error:
      logging.error("The model configuration was not read again: %s", error)


if __name__ == "__main__":
  server_flags.define()
  flags.adopt_module_key_flags(server_flags)
  errors.run(main)
