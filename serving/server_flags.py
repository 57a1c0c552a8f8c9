"""The flags of the embedded server, and the configuration that they give.

Flags of `tensorflow_model_server` that this server can honour have the same names.
"""

import functools
import pathlib
import re
from typing import TYPE_CHECKING

from absl import flags

from gcap_tf import errors

if TYPE_CHECKING:
  from serving import batching, embedded, versions
  from serving.front import tls

FLAGS = flags.FLAGS
_WHOLE_NUMBER = re.compile(r"-?\d{1,9}")
_ORIGIN = re.compile(r"https?://[^/\s,*]+|\*")


def define() -> None:
  """Defines the flags; those of `tensorflow_model_server` have their names there."""
  flags.DEFINE_string(
    "model_base_path",
    None,
    "Folder of versions (DIR/1, ...); default: the shipped captioner.",
  )
  flags.DEFINE_string("model_name", "captioner", "Name of the model in requests.")
  flags.DEFINE_string("model_config_file", None, "ModelServerConfig file, for several models.")
  flags.DEFINE_string("batching_parameters_file", None, "BatchingParameters file.")
  flags.DEFINE_string("bind", "127.0.0.1", "Address to listen on; 0.0.0.0 for all networks.")
  flags.DEFINE_integer("port", 8500, "gRPC port; 0 takes a free one.", 0, 65535)
  flags.DEFINE_integer(
    "rest_api_port", 8501, "REST port; 0 takes a free one, -1 turns REST off.", -1, 65535
  )
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
  flags.DEFINE_string("ssl_config_file", None, "SSLConfig file with PEM texts; turns TLS on.")
  flags.DEFINE_string("monitoring_config_file", None, "MonitoringConfig file: path of the metrics.")
  flags.DEFINE_list("cors_origin", [], "Origins whose pages may read REST answers; default: none.")
  flags.DEFINE_bool("enable_cors_support", False, "The same for the pages of every origin.")
  flags.DEFINE_integer("rest_api_timeout_in_ms", 0, "Time for a REST request; 0: the default.", 0)
  flags.DEFINE_integer("rest_api_num_threads", 256, "Most REST connections at once.", 1)
  flags.DEFINE_integer("grpc_max_threads", 0, "Most gRPC requests at once; 0: as many as fit.", 0)
  flags.DEFINE_string("grpc_socket_path", "", "Unix socket for gRPC, besides the port.")
  flags.DEFINE_list(
    "grpc_channel_arguments", [], "NAME=VALUE of the gRPC server: grpc.max_connection_age_ms=2000."
  )
  flags.DEFINE_bool("enable_batching", True, "Runs requests that arrive together as one batch.")
  flags.DEFINE_bool("enable_model_warmup", True, "Runs the warm-up requests of a new version.")
  flags.DEFINE_integer(
    "tensorflow_session_parallelism", 0, "Threads of one operation, and operations at once.", 0
  )
  flags.DEFINE_float(
    "model_config_file_poll_wait_seconds",
    0.0,
    "Seconds between two readings of --model_config_file; 0 reads it once.",
    0.0,
  )


def _served_folders() -> "list[versions.ModelConfig]":
  """The folder of --model_base_path, else both shipped captioners, to compare on the page."""
  from serving import versions

  if FLAGS.model_base_path:
    return [versions.ModelConfig(FLAGS.model_name, pathlib.Path(FLAGS.model_base_path))]
  from export import shipped_models
  from gcap_tf.shipped import folders

  return [
    versions.ModelConfig(FLAGS.model_name, shipped_models.base_path()),
    versions.ModelConfig("labels", folders.model_folder()),
  ]


def config() -> "embedded.ServerConfig":
  """The flags as a configuration."""
  if FLAGS.model_base_path and FLAGS.model_config_file:
    raise errors.UserError("give one of --model_base_path=DIR and --model_config_file=FILE")
  from serving import embedded, servables, text_protos
  from serving import limits as limits_lib

  served = read_models() if FLAGS.model_config_file else _served_folders()
  for config in served:
    if not config.base_path.is_dir():
      raise errors.UserError(f"{config.name}: the folder {config.base_path} does not exist")
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
      connections=FLAGS.rest_api_num_threads,
      default_deadline=FLAGS.default_deadline,
    ),
    batching=_batching(),
    threads=servables.Threads(
      FLAGS.tensorflow_intra_op_parallelism or FLAGS.tensorflow_session_parallelism,
      FLAGS.tensorflow_inter_op_parallelism or FLAGS.tensorflow_session_parallelism,
    ),
    poll_seconds=FLAGS.file_system_poll_wait_seconds,
    token=_token(),
    tls=_tls(),
    samples=pathlib.Path(FLAGS.samples) if FLAGS.samples else None,
    origins=("*",) if FLAGS.enable_cors_support else _origins(),
    metrics_path=text_protos.read_metrics_path(FLAGS.monitoring_config_file),
    rest_seconds=FLAGS.rest_api_timeout_in_ms / 1000 or None,
    rpc_threads=FLAGS.grpc_max_threads,
    socket_path=FLAGS.grpc_socket_path,
    channel_arguments=_channel_arguments(),
    warmup=FLAGS.enable_model_warmup,
  )


def read_models() -> "list[versions.ModelConfig]":
  """The models of --model_config_file."""
  from serving import models

  return models.read_config_file(pathlib.Path(FLAGS.model_config_file))


def _batching() -> "batching.BatchingConfig":
  from serving import batching, text_protos

  if FLAGS.enable_batching:
    return text_protos.read_batching(FLAGS.batching_parameters_file)
  if FLAGS.batching_parameters_file:
    raise errors.UserError("--batching_parameters_file contradicts --enable_batching=false")
  return batching.BatchingConfig(max_batch_size=1, batch_timeout_micros=0)


def _token() -> str:
  if not FLAGS.token_file:
    return ""
  token = pathlib.Path(FLAGS.token_file).read_text(encoding="utf-8").strip()
  if not token or not token.isascii() or not token.isprintable() or " " in token:
    raise errors.UserError(
      f"--token_file={FLAGS.token_file} must hold one word of printable ASCII characters"
    )
  return token


def _channel_arguments() -> tuple[tuple[str, str | int], ...]:
  found = []
  for argument in FLAGS.grpc_channel_arguments:
    name, _, value = argument.partition("=")
    if not name or not value:
      raise errors.UserError(f"--grpc_channel_arguments={argument} is not NAME=VALUE")
    found.append((name, int(value) if _WHOLE_NUMBER.fullmatch(value) else value))
  return tuple(found)


def _origins() -> tuple[str, ...]:
  for origin in FLAGS.cors_origin:
    if not _ORIGIN.fullmatch(origin):
      raise errors.UserError(
        f"--cors_origin={origin} is not an origin; write https://HOST or https://HOST:PORT"
      )
  return tuple(FLAGS.cors_origin)


def _tls() -> "tls.Tls | None":
  from serving import text_protos
  from serving.front import tls

  if bool(FLAGS.tls_certificate) != bool(FLAGS.tls_key):
    raise errors.UserError("--tls_certificate and --tls_key go together")
  if FLAGS.ssl_config_file:
    if FLAGS.tls_certificate:
      raise errors.UserError("give --ssl_config_file or --tls_certificate, not both")
    found = text_protos.read_ssl(FLAGS.ssl_config_file)
    ca = found.custom_ca if found.client_verify else ""
    folder = pathlib.Path(_folder_of_keys().name)
    return tls.write_files(found.server_key, found.server_cert, ca, folder)
  if not FLAGS.tls_certificate:
    if FLAGS.tls_client_ca:
      raise errors.UserError("--tls_client_ca needs --tls_certificate and --tls_key")
    return None
  ca = pathlib.Path(FLAGS.tls_client_ca) if FLAGS.tls_client_ca else None
  return tls.Tls(pathlib.Path(FLAGS.tls_certificate), pathlib.Path(FLAGS.tls_key), ca)


@functools.cache  # Kept until the program ends.
def _folder_of_keys():
  from serving.front import tls

  return tls.temporary_folder()
