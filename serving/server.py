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
from typing import TYPE_CHECKING

from absl import flags, logging

from gcap_tf import errors

if TYPE_CHECKING:
  from serving import embedded

FLAGS = flags.FLAGS
_SIGNAL_SECONDS = 0.2


def _define_flags() -> None:
  flags.DEFINE_string(
    "model_base_path",
    None,
    "Folder of versions (DIR/1, ...); default: the shipped captioner.",
  )
  flags.DEFINE_string("model_name", "captioner", "Name of the model in requests.")
  flags.DEFINE_string("model_config_file", None, "ModelServerConfig file, for several models.")
  flags.DEFINE_string("batching_parameters_file", None, "BatchingParameters file.")
  flags.DEFINE_string("bind", "127.0.0.1", "Address to listen on; 0.0.0.0 for all networks.")
  flags.DEFINE_integer("port", 8500, "gRPC port; 0 takes a free one.", lower_bound=0)
  flags.DEFINE_integer("rest_api_port", 8501, "REST port; 0 takes a free one, -1 turns REST off.")
  flags.DEFINE_alias("rest_port", "rest_api_port")
  flags.DEFINE_float(
    "file_system_poll_wait_seconds", 1.0, "Seconds between two searches for new versions.", 0.01
  )
  flags.DEFINE_integer("max_in_flight", 128, "Most requests at once; others get UNAVAILABLE.", 1)
  flags.DEFINE_integer("max_regions", 512, "Most regions of a picture.", 1)
  flags.DEFINE_integer("max_request_pictures", 128, "Most pictures of one request.", 1)
  flags.DEFINE_integer("max_message_megabytes", 32, "Size of the largest request.", 1)
  flags.DEFINE_float("default_deadline", 30.0, "Seconds for a request without a deadline.", 0.001)
  flags.DEFINE_integer("tensorflow_intra_op_parallelism", 0, "Threads of one operation.", 0)
  flags.DEFINE_integer("tensorflow_inter_op_parallelism", 0, "Operations at once.", 0)
  flags.DEFINE_string("tls_certificate", None, "PEM file; turns TLS on, with --tls_key.")
  flags.DEFINE_string("tls_key", None, "PEM file of the private key.")
  flags.DEFINE_string("tls_client_ca", None, "PEM file that signs the clients' certificates.")
  flags.DEFINE_string("token_file", None, "File with the token that clients must send.")
  flags.DEFINE_string("samples", None, "Folder with samples.json for the page.")
  flags.DEFINE_float("drain_seconds", 10.0, "Seconds for running requests after SIGTERM.", 0)


def _config_from_flags() -> "embedded.ServerConfig":
  if FLAGS.model_base_path and FLAGS.model_config_file:
    raise errors.UserError("give one of --model_base_path=DIR and --model_config_file=FILE")
  from gcap_tf.shipped import folders as shipped_folders
  from serving import embedded, models, servables, text_protos, versions
  from serving import limits as limits_lib

  if FLAGS.model_config_file:
    served = models.read_config_file(pathlib.Path(FLAGS.model_config_file))
  else:
    base_path = FLAGS.model_base_path or shipped_folders.model_folder()
    served = [versions.ModelConfig(FLAGS.model_name, pathlib.Path(base_path))]
    labels = shipped_folders.model_folder(shipped_folders.LABELS)
    if not FLAGS.model_base_path and labels != base_path:
      served.append(versions.ModelConfig("labels", labels))  # to compare with, on the page
  for config in served:
    if not config.base_path.is_dir():
      raise errors.UserError(f"{config.name}: the folder {config.base_path} does not exist")
  if bool(FLAGS.tls_certificate) != bool(FLAGS.tls_key):
    raise errors.UserError("--tls_certificate and --tls_key go together")
  tls = None
  if FLAGS.tls_certificate:
    ca = pathlib.Path(FLAGS.tls_client_ca) if FLAGS.tls_client_ca else None
    tls = embedded.Tls(pathlib.Path(FLAGS.tls_certificate), pathlib.Path(FLAGS.tls_key), ca)
  return embedded.ServerConfig(
    models=tuple(served),
    bind=FLAGS.bind,
    port=FLAGS.port,
    rest_port=None if FLAGS.rest_api_port < 0 else FLAGS.rest_api_port,
    limits=limits_lib.Limits(
      message_bytes=FLAGS.max_message_megabytes << 20,
      batch=FLAGS.max_request_pictures,
      regions=FLAGS.max_regions,
      in_flight=FLAGS.max_in_flight,
      default_deadline=FLAGS.default_deadline,
    ),
    batching=text_protos.read_batching(FLAGS.batching_parameters_file),
    threads=servables.Threads(
      FLAGS.tensorflow_intra_op_parallelism, FLAGS.tensorflow_inter_op_parallelism
    ),
    poll_seconds=FLAGS.file_system_poll_wait_seconds,
    token=pathlib.Path(FLAGS.token_file).read_text().strip() if FLAGS.token_file else "",
    tls=tls,
    samples=pathlib.Path(FLAGS.samples) if FLAGS.samples else None,
  )


def main(argv: list[str]) -> None:
  del argv
  logging.set_verbosity(logging.INFO)
  config = _config_from_flags()
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
  while not stop_requested.wait(_SIGNAL_SECONDS):
    pass  # A wait without a timeout can miss a signal that another thread received.
  logging.info("Stopping after the current requests")
  server.stop(FLAGS.drain_seconds)


if __name__ == "__main__":
  _define_flags()
  errors.run(main)
