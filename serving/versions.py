"""Loads and unloads the versions of a model, and finds the version for a request.

A model is a folder of versions, `BASE/<integer>/saved_model.pb`. Other names are ignored,
so a version may be copied under another name and then renamed. A thread looks for changes
every second. A new version accepts requests after its warm-up requests have run; then the
old one finishes its requests and is unloaded. A version that cannot be loaded never accepts
requests. The last loaded version stays even if it disappears from the disk.
"""

import contextlib
import dataclasses
import pathlib
import threading
from collections.abc import Callable, Iterator

import grpc
from absl import logging
from tensorflow_serving.apis import get_model_status_pb2, model_pb2

from gcap_tf import config as configs
from serving import batching, servables, status

State = get_model_status_pb2.ModelVersionStatus.State


@dataclasses.dataclass(frozen=True)
class ModelConfig:
  """A model to serve.

  Attributes:
    name: name of the model in requests.
    base_path: folder of versions.
    latest: number of the newest versions to serve; 0 serves all.
    specific: versions to serve instead of the newest.
    labels: version labels, such as {"stable": 3}.
  """

  name: str
  base_path: pathlib.Path
  latest: configs.Count = 1
  specific: tuple[int, ...] = ()
  labels: dict[str, int] = dataclasses.field(default_factory=dict)


class Version:
  """A version: its state from START to END, and the number of requests that use it."""

  def __init__(self, number: int, folder: pathlib.Path):
    self.number, self.folder = number, folder
    self.state = State.START
    self.error = ""
    self.stamp = 0  # `last_change` of the files that failed to load
    self.servable: servables.Servable | None = None
    self.batchers: batching.BatcherPool | None = None
    self.users = 0


class Model:
  """The versions of one model; one lock protects all state."""

  def __init__(
    self,
    config: ModelConfig,
    load: Callable[
      [ModelConfig, int, pathlib.Path], tuple[servables.Servable, batching.BatcherPool]
    ],
  ):
    self.config = config
    self._load = load
    self._lock = threading.Condition()
    self._refreshing = threading.Lock()
    self._versions: dict[int, Version] = {}
    self._labels: dict[str, int] = {}

  def refresh(self) -> None:
    """Loads and unloads versions until they match the disk and the config."""
    with self._refreshing:
      wanted = wanted_versions(self.config)
      for number, folder in sorted(wanted.items()):
        self._load_version(number, folder)
      self._move_labels()
      self._unload_all_but(set(wanted))

  def unload(self) -> None:
    with self._refreshing:
      for version in list(self._versions.values()):
        self._unload_version(version)

  @contextlib.contextmanager
  def use(self, spec: model_pb2.ModelSpec) -> Iterator[Version]:
    """Yields the version for a request and keeps it loaded inside the block."""
    with self._lock:
      version = self._find(spec)
      version.users += 1
    try:
      yield version
    finally:
      with self._lock:
        version.users -= 1
        self._lock.notify_all()

  def available(self) -> list[int]:
    with self._lock:
      return sorted(v.number for v in self._versions.values() if v.state == State.AVAILABLE)

  def waiting(self) -> int:
    with self._lock:
      pools = [version.batchers for version in self._versions.values() if version.batchers]
    return sum(pool.waiting() for pool in pools)

  def statuses(self, spec: model_pb2.ModelSpec) -> list[get_model_status_pb2.ModelVersionStatus]:
    """Returns the state of the requested version, or of all, newest first."""
    with self._lock:
      requested = self._requested_number(spec)
      versions = [v for v in self._versions.values() if requested in (None, v.number)]
    if not versions:
      raise status.not_found(f"Could not find version {requested} of model {self.config.name}")
    found = []
    for version in sorted(versions, key=lambda v: -v.number):
      entry = get_model_status_pb2.ModelVersionStatus(version=version.number, state=version.state)
      if version.error:
        entry.status.error_code = status.code_number(grpc.StatusCode.UNKNOWN)
        entry.status.error_message = version.error
      found.append(entry)
    return found

  def _requested_number(self, spec: model_pb2.ModelSpec) -> int | None:
    choice = spec.WhichOneof("version_choice")
    if choice == "version":
      return spec.version.value
    if choice == "version_label":
      if spec.version_label not in self._labels:
        raise status.invalid(f"Unrecognized servable version label: {spec.version_label}")
      return self._labels[spec.version_label]
    return None

  def _find(self, spec: model_pb2.ModelSpec) -> Version:
    requested = self._requested_number(spec)
    ready = [v for v in self._versions.values() if v.state == State.AVAILABLE]
    if requested is None:
      if not ready:
        raise status.not_found(f"Servable not found for request: Latest({self.config.name})")
      return max(ready, key=lambda v: v.number)
    for version in ready:
      if version.number == requested:
        return version
    raise status.not_found(
      f"Servable not found for request: Specific({self.config.name}, {requested})"
    )

  def _load_version(self, number: int, folder: pathlib.Path) -> None:
    known = self._versions.get(number)
    if known and known.state == State.AVAILABLE:
      return
    stamp = last_change(folder)
    if known and known.error and known.stamp == stamp:
      return
    version = Version(number, folder)
    version.stamp, version.state = stamp, State.LOADING
    with self._lock:
      self._versions[number] = version
    logging.info("Loading %s version %d from %s", self.config.name, number, folder)
    try:
      version.servable, version.batchers = self._load(self.config, number, folder)
    except Exception as error:  # a broken version must not stop the others
      logging.error("%s version %d is not served: %s", self.config.name, number, error)
      version.error, version.state = str(error), State.END
      return
    with self._lock:
      version.state = State.AVAILABLE
    logging.info("%s version %d is available", self.config.name, number)

  def _move_labels(self) -> None:
    """Moves labels to the versions of the config that are available."""
    available = self.available()
    with self._lock:
      for label, number in self.config.labels.items():
        if number in available:
          self._labels[label] = number
      for label in set(self._labels) - set(self.config.labels):
        del self._labels[label]

  def _unload_all_but(self, wanted: set[int]) -> None:
    available = self.available()
    if not wanted & set(available):  # never unload the only available version
      wanted = wanted | set(available[-1:])
    for version in list(self._versions.values()):
      if version.number not in wanted:
        self._unload_version(version)

  def _unload_version(self, version: Version) -> None:
    with self._lock:
      if version.state != State.AVAILABLE:
        return
      version.state = State.UNLOADING
      while version.users:
        self._lock.wait()
    version.batchers.close()
    version.servable.close()
    version.servable = version.batchers = None
    with self._lock:
      version.state = State.END
    logging.info("%s version %d is unloaded", self.config.name, version.number)


def wanted_versions(config: ModelConfig) -> dict[int, pathlib.Path]:
  """Returns version number -> folder for the complete versions that the config selects."""
  found = {}
  if config.base_path.is_dir():
    for folder in sorted(config.base_path.iterdir()):
      if folder.name.isascii() and folder.name.isdigit() and (folder / "saved_model.pb").is_file():
        found.setdefault(int(folder.name), folder)
  if config.specific:
    return {number: found[number] for number in config.specific if number in found}
  numbers = sorted(found)
  return {
    number: found[number] for number in (numbers[-config.latest :] if config.latest else numbers)
  }


def last_change(folder: pathlib.Path) -> int:
  """Returns the time of the last change in a folder, in nanoseconds."""
  return max(path.stat().st_ctime_ns for path in (folder, *folder.rglob("*")))
