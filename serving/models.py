"""The models of a server: configures, polls, loads and finds them by name."""

import contextlib
import pathlib
import threading
from collections.abc import Callable, Iterator

from absl import logging
from google.protobuf import text_format
from tensorflow_serving.apis import get_model_status_pb2, model_pb2
from tensorflow_serving.config import model_server_config_pb2

from gcap_tf import errors
from serving import batching, servables, status, versions
from serving import limits as limits_lib
from serving import metrics as metrics_lib


class Models:
  """Keeps every configured model up to date until `close`."""

  def __init__(
    self,
    configs: list[versions.ModelConfig],
    *,
    batching_config: batching.BatchingConfig,
    limits: limits_lib.Limits,
    metrics: metrics_lib.Metrics,
    threads: servables.Threads,
    poll_seconds: float = 1.0,
    warmup: bool = True,
    on_refresh: Callable[[], None] = lambda: None,
  ):
    """Loads nothing yet; calls `on_refresh` after every search for versions."""
    self._batching, self._limits, self._metrics = batching_config, limits, metrics
    self._threads, self._warmup = threads, warmup
    self._poll_seconds, self._on_refresh = poll_seconds, on_refresh
    self._lock = threading.Lock()
    self._reconfiguring = threading.Lock()
    self._models = {config.name: versions.Model(config, self._load) for config in configs}
    self._stop = threading.Event()
    self._poller = threading.Thread(target=self._poll, name="versions", daemon=True)

  def start(self) -> None:
    """Loads the present versions, then keeps looking for new ones."""
    for model in self._all():
      model.refresh()
    self._on_refresh()
    self._poller.start()

  def close(self) -> None:
    """Stops polling and unloads all models after their last request."""
    self._stop.set()
    if self._poller.is_alive():
      self._poller.join()
    for model in self._all():
      model.unload()

  @contextlib.contextmanager
  def use(self, spec: model_pb2.ModelSpec) -> Iterator[versions.Version]:
    """Yields the version for a request and keeps it loaded inside the block."""
    with self._model(spec).use(spec) as version:
      yield version

  def statuses(self, spec: model_pb2.ModelSpec) -> list[get_model_status_pb2.ModelVersionStatus]:
    return self._model(spec).statuses(spec)

  def knows(self, name: str) -> bool:
    return name in self._models

  def ready(self) -> bool:
    """Whether every model has an available version."""
    return all(model.available() for model in self._all())

  def available(self) -> dict[str, list[int]]:
    return {model.config.name: model.available() for model in self._all()}

  def waiting(self) -> dict[str, int]:
    return {model.config.name: model.waiting() for model in self._all()}

  def reconfigure(self, configs: list[versions.ModelConfig]) -> None:
    """Serves `configs` from now on; returns when their versions are loaded.

    If a new model cannot be loaded, nothing changes. A label whose version is not
    available keeps its old version. Both raise an error.
    """
    check_configs(configs)
    with self._reconfiguring:
      added = self._load_new(configs)
      with self._lock:
        kept = {config.name for config in configs}
        removed = [self._models.pop(name) for name in set(self._models) - kept]
        self._models.update(added)
        for config in configs:
          self._models[config.name].config = config
      for model in self._all():
        model.refresh()
      for model in removed:
        model.unload()
      self._check_labels(configs)

  def _load_new(self, configs: list[versions.ModelConfig]) -> dict[str, versions.Model]:
    """Loads the new models; unloads all of them and raises an error if one fails."""
    added = {}
    for config in configs:
      if config.name in self._models:
        continue
      model = added[config.name] = versions.Model(config, self._load)
      model.refresh()
      if not model.available():
        for loaded in added.values():
          loaded.unload()
        raise status.invalid(f"{config.name}: no version in {config.base_path} could be loaded")
    return added

  def _check_labels(self, configs: list[versions.ModelConfig]) -> None:
    for config in configs:
      missing = set(config.labels.values()) - set(self._models[config.name].available())
      if missing:
        raise status.failed_precondition(
          f"{config.name}: a label points at version {min(missing)}, which is not available"
        )

  def _model(self, spec: model_pb2.ModelSpec) -> versions.Model:
    if not spec.name:
      raise status.invalid("ModelSpec has no name specified.")
    with self._lock:
      model = self._models.get(spec.name)
    if model is None:
      raise status.not_found(f"Servable not found for request: {_describe(spec)}")
    return model

  def _all(self) -> list[versions.Model]:
    with self._lock:
      return list(self._models.values())

  def _poll(self) -> None:
    while not self._stop.wait(self._poll_seconds):
      for model in self._all():
        try:
          model.refresh()
        except Exception:  # a failing disk must not end the polling
          logging.exception("The search for versions of %s failed", model.config.name)
      self._on_refresh()

  def _load(
    self, config: versions.ModelConfig, number: int, folder: pathlib.Path
  ) -> tuple[servables.Servable, batching.BatcherPool]:
    try:
      servable = servables.Servable(folder, self._threads)
      try:
        warmed = servable.run_warmup_requests() if self._warmup else 0
      except Exception:
        servable.close()
        raise
    except Exception:
      self._metrics.loads.add(config.name, "failed")
      raise
    self._metrics.loads.add(config.name, "loaded")
    logging.info("%s version %d answered %d warm-up requests", config.name, number, warmed)
    return servable, batching.BatcherPool(
      lambda signature: batching.Batcher(
        servable,
        signature,
        self._batching,
        self._metrics,
        config.name,
        self._limits.in_flight,
      )
    )


def check_configs(configs: list[versions.ModelConfig]) -> None:
  """Raises an error for models without a name, with the same name or without a folder."""
  names = [config.name for config in configs]
  for config in configs:
    if not config.name:
      raise status.invalid("a model of the configuration has no name")
    if names.count(config.name) > 1:
      raise status.invalid(f'the configuration names model "{config.name}" twice')
    if not config.base_path.is_dir():
      raise status.invalid(f"{config.name}: the folder {config.base_path} does not exist")


def configs_from_proto(
  config: model_server_config_pb2.ModelServerConfig,
) -> list[versions.ModelConfig]:
  """Converts the configuration message of TensorFlow Serving."""
  if config.WhichOneof("config") != "model_config_list":
    raise status.invalid("only a model_config_list is supported")
  return [_config_from_proto(entry) for entry in config.model_config_list.config]


def read_config_file(path: pathlib.Path) -> list[versions.ModelConfig]:
  """Reads a `--model_config_file`, a ModelServerConfig in text form."""
  try:
    proto = text_format.Parse(path.read_text(), model_server_config_pb2.ModelServerConfig())
    return configs_from_proto(proto)
  except FileNotFoundError:
    raise errors.UserError(f"model configuration {path} does not exist") from None
  except (text_format.ParseError, status.ServingError) as error:
    raise errors.UserError(f"model configuration {path}: {error}") from None


def _config_from_proto(entry: model_server_config_pb2.ModelConfig) -> versions.ModelConfig:
  if entry.model_platform not in ("", "tensorflow"):
    raise status.invalid(f'{entry.name}: platform "{entry.model_platform}" is not served here')
  policy = entry.model_version_policy
  choice = policy.WhichOneof("policy_choice")
  return versions.ModelConfig(
    name=entry.name,
    base_path=pathlib.Path(entry.base_path),
    latest=0 if choice == "all" else max(1, policy.latest.num_versions),
    specific=tuple(policy.specific.versions) if choice == "specific" else (),
    labels=dict(entry.version_labels),
  )


def _describe(spec: model_pb2.ModelSpec) -> str:
  if spec.WhichOneof("version_choice") == "version":
    return f"Specific({spec.name}, {spec.version.value})"
  return f"Latest({spec.name})"
