"""The embedded server as a library.

It has the gRPC and REST API of TensorFlow Serving. `serving/server.py` is its command.
"""

import concurrent.futures
import dataclasses
import gc
import pathlib
import threading

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from gcap_tf import config as configs
from gcap_tf import errors
from serving import batching as batching_lib
from serving import limits as limits_lib
from serving import metrics as metrics_lib
from serving import models, predict, rest, rpc, servables, static, versions
from serving.front import rest_server
from serving.front import tls as tls_lib

_SPARE_THREADS = 16  # for health checks and refusals while all slots are taken


@dataclasses.dataclass(frozen=True)
class ServerConfig:
  """Options of a server.

  Attributes:
    models: the models to serve.
    bind: address to listen on.
    port: gRPC port; 0 takes a free one.
    rest_port: REST port; 0 takes a free one, None turns REST off.
    limits: bounds on requests.
    batching: batching options.
    threads: thread pools of TensorFlow.
    poll_seconds: seconds between two searches for new versions.
    token: clients must send it as `authorization: Bearer TOKEN`; "" accepts all clients.
    tls: certificates, or None for plain text.
    samples: folder with samples for the page.
    origins: origins whose pages may read REST answers; "*" is every page.
    metrics_path: REST path of the metrics; "" serves none.
    rest_seconds: for a REST request; None takes the default deadline.
    rpc_threads: most gRPC requests at once; 0 follows from the limits.
    socket_path: Unix socket for gRPC, besides the port; "" for none.
    channel_arguments: options of the gRPC server; the limits above hold all the same.
    warmup: whether a version answers its warm-up requests before it accepts others.
  """

  models: tuple[versions.ModelConfig, ...]
  bind: str = "127.0.0.1"
  port: configs.Port = 0
  rest_port: configs.Port | None = 0
  limits: limits_lib.Limits = dataclasses.field(default_factory=limits_lib.Limits)
  batching: batching_lib.BatchingConfig = dataclasses.field(
    default_factory=batching_lib.BatchingConfig
  )
  threads: servables.Threads = dataclasses.field(default_factory=servables.Threads)
  poll_seconds: configs.Positive = 1.0
  token: str = ""
  tls: tls_lib.Tls | None = None
  samples: pathlib.Path | None = None
  origins: tuple[str, ...] = ()
  metrics_path: str = metrics_lib.PATH
  rest_seconds: configs.Positive | None = None
  rpc_threads: configs.Count = 0
  socket_path: str = ""
  channel_arguments: tuple[tuple[str, str | int], ...] = ()
  warmup: bool = True


class Server:
  """A running server; also a context manager.

  with Server(ServerConfig(models=(ModelConfig("captioner", folder),))) as server:
    print(server.address, server.rest_address)
  """

  def __init__(self, config: ServerConfig):
    configs.check(config.limits, "limits")
    configs.check(config.batching, "batching")
    if config.tls is not None:
      tls_lib.check(config.tls)
    self.config = config
    self.metrics = metrics_lib.Metrics()
    self._health = health.HealthServicer()
    self.models = models.Models(
      list(config.models),
      batching_config=config.batching,
      limits=config.limits,
      metrics=self.metrics,
      threads=config.threads,
      poll_seconds=config.poll_seconds,
      warmup=config.warmup,
      on_refresh=self._report_health,
    )
    self._add_gauges()
    self.predictor = predict.Predictor(self.models, config.limits, self.metrics)
    self._grpc, self.port = self._make_grpc()
    self._rest: rest_server.RestServer | None = None
    self.rest_port: int | None = None
    if config.rest_port is not None:
      self._rest = self._make_rest(config.rest_port)
      self.rest_port = self._rest.port

  @property
  def address(self) -> str:
    return f"{_host(self.config.bind)}:{self.port}"

  @property
  def rest_address(self) -> str:
    return f"{_host(self.config.bind)}:{self.rest_port}"

  def start(self) -> "Server":
    """Loads the models, then accepts requests."""
    self.models.start()
    self._grpc.start()
    if self._rest is not None:
      serve = threading.Thread(
        target=self._rest.serve_forever, args=(0.1,), name="rest", daemon=True
      )
      serve.start()
    return self

  def stop(self, grace_seconds: float = 10.0) -> None:
    """Accepts no more requests, finishes the current ones, unloads the models."""
    self._health.enter_graceful_shutdown()
    stopped = self._grpc.stop(grace_seconds)
    if self._rest is not None:
      self._rest.drain(grace_seconds)
    stopped.wait()
    self.models.close()

  def __enter__(self) -> "Server":
    return self.start()

  def __exit__(self, *unused) -> None:
    self.stop()

  def _make_grpc(self) -> tuple[grpc.Server, int]:
    limits = self.config.limits
    workers = self.config.rpc_threads or limits.in_flight + _SPARE_THREADS
    server = grpc.server(
      concurrent.futures.ThreadPoolExecutor(workers, thread_name_prefix="rpc"),
      maximum_concurrent_rpcs=workers,
      options=[
        *self.config.channel_arguments,
        ("grpc.max_receive_message_length", limits.message_bytes),
        ("grpc.max_send_message_length", limits.message_bytes),
        ("grpc.so_reuseport", 0),
      ],
    )
    services = rpc.Services(self.predictor, self.config.token)
    server.add_generic_rpc_handlers(services.handlers())
    health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
    names = (rpc.PREDICTION_SERVICE, rpc.MODEL_SERVICE, health.SERVICE_NAME)
    reflection.enable_server_reflection((*names, reflection.SERVICE_NAME), server)
    if self.config.socket_path:
      self._listen(server, f"unix:{self.config.socket_path}")
    return server, self._listen(server, f"{_host(self.config.bind)}:{self.config.port}")

  def _listen(self, server: grpc.Server, address: str) -> int:
    try:
      if self.config.tls is None:
        return server.add_insecure_port(address)
      return server.add_secure_port(address, tls_lib.credentials(self.config.tls))
    except RuntimeError as error:
      raise errors.UserError(f"cannot listen on {address}: {error}") from None

  def _make_rest(self, port: int) -> rest_server.RestServer:
    config = self.config
    options = rest.RestOptions(
      token=config.token,
      tls=tls_lib.context(config.tls) if config.tls else None,
      origins=config.origins,
      metrics_path=config.metrics_path,
      seconds=config.rest_seconds,
    )
    try:
      return rest_server.RestServer(
        (config.bind, port), self.predictor, static.StaticFiles(config.samples), options
      )
    except OSError as error:
      raise errors.UserError(f"cannot listen on {self.config.bind}:{port}: {error}") from None

  def _add_gauges(self) -> None:
    self.metrics.add_gauge(
      metrics_lib.Gauge(
        "gcap_serving_version_available",
        "1 for every version that accepts requests.",
        ("model_name", "version"),
        lambda: {(m, str(v)): 1 for m, found in self.models.available().items() for v in found},
      )
    )
    self.metrics.add_gauge(
      metrics_lib.Gauge(
        "gcap_serving_queued_requests",
        "Requests that wait for a batch.",
        ("model_name",),
        lambda: {(name,): count for name, count in self.models.waiting().items()},
      )
    )

  def _report_health(self) -> None:
    """Reports the server as healthy if every model has an available version."""
    states = health_pb2.HealthCheckResponse
    state = states.SERVING if self.models.ready() else states.NOT_SERVING
    for service in ("", rpc.PREDICTION_SERVICE, rpc.MODEL_SERVICE):
      self._health.set(service, state)


def freeze_objects() -> None:
  """Frees garbage, and takes the objects that are left out of later collections.

  TensorFlow alone has 290,000 objects. A collection that visits them all takes a sixth of a
  second, in which no request is answered. Call it when versions have been loaded or unloaded.
  """
  gc.unfreeze()
  gc.collect()
  gc.freeze()


def _host(bind: str) -> str:
  return f"[{bind}]" if ":" in bind else bind
