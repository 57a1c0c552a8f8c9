"""Which versions of a model are loaded, and which one a request gets.

A model is a folder of versions, `BASE/<integer>/saved_model.pb`; other names are
ignored, so a version that is still being copied under another name is not seen.
A thread looks for changes every second. A new version takes requests only after its
warm-up has run; the old one is unloaded after that, when its last request is
answered. A version that cannot be loaded never takes requests, and the last loaded
version is kept even when it vanishes from the disk.
"""

import contextlib
import dataclasses
import pathlib
import threading
from collections.abc import Callable, Iterator

import grpc
from absl import logging
from tensorflow_serving.apis import get_model_status_pb2, model_pb2

from serving import batching, servables, status

State = get_model_status_pb2.ModelVersionStatus.State


@dataclasses.dataclass(frozen=True)
class ModelConfig:
  """What to serve under one name.

  Attributes:
    name: the model's name in requests.
    base_path: the folder of versions.
    latest: serve this many of the newest versions; 0 serves all of them.
    specific: serve exactly these versions instead.
    labels: version labels, such as {"stable": 3}.
  """

  name: str
  base_path: pathlib.Path
  latest: int = 1
  specific: tuple[int, ...] = ()
  labels: dict[str, int] = dataclasses.field(default_factory=dict)


class Version:
  """A version's place in its life, START to END, and who still uses it."""

  def __init__(self, number: int, folder: pathlib.Path):
    self.number, self.folder = number, folder
    self.state = State.START
    self.error = ""
    self.stamp = 0  # `last_change` of the files that failed to load
    self.servable: servables.Servable | None = None
    self.batchers: batching.BatcherPool | None = None
    self.users = 0


class Model:
  """The versions of one model. All state is changed under the one lock."""

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
    """Loads and unloads until what is served is what the disk and the config ask for."""
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
    """The version that a request asks for; it stays loaded inside the block."""
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
    """State of the asked version, or of all, newest first."""
    with self._lock:
      asked = self._asked_number(spec)
      versions = [v for v in self._versions.values() if asked in (None, v.number)]
    if not versions:
      raise status.not_found(f"Could not find version {asked} of model {self.config.name}")
    found = []
    for version in sorted(versions, key=lambda v: -v.number):
      entry = get_model_status_pb2.ModelVersionStatus(version=version.number, state=version.state)
      if version.error:
        entry.status.error_code = status.code_number(grpc.StatusCode.UNKNOWN)
        entry.status.error_message = version.error
      found.append(entry)
    return found

  def _asked_number(self, spec: model_pb2.ModelSpec) -> int | None:
    choice = spec.WhichOneof("version_choice")
    if choice == "version":
      return spec.version.value
    if choice == "version_label":
      if spec.version_label not in self._labels:
        raise status.invalid(f"Unrecognized servable version label: {spec.version_label}")
      return self._labels[spec.version_label]
    return None

  def _find(self, spec: model_pb2.ModelSpec) -> Version:
    asked = self._asked_number(spec)
    ready = [v for v in self._versions.values() if v.state == State.AVAILABLE]
    if asked is None:
      if not ready:
        raise status.not_found(f"Servable not found for request: Latest({self.config.name})")
      return max(ready, key=lambda v: v.number)
    for version in ready:
      if version.number == asked:
        return version
    raise status.not_found(f"Servable not found for request: Specific({self.config.name}, {asked})")

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
    except Exception as error:  # one broken version must not stop the others
      logging.error("%s version %d is not served: %s", self.config.name, number, error)
      version.error, version.state = str(error), State.END
      return
    with self._lock:
      version.state = State.AVAILABLE
    logging.info("%s version %d is available", self.config.name, number)

  def _move_labels(self) -> None:
    """A label moves only to a version that is available."""
    available = self.available()
    with self._lock:
      for label, number in self.config.labels.items():
        if number in available:
          self._labels[label] = number
      for label in set(self._labels) - set(self.config.labels):
        del self._labels[label]

  def _unload_all_but(self, wanted: set[int]) -> None:
    available = self.available()
    if not wanted & set(available):  # never unload the only version that answers
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
  """Version number -> folder of the complete versions that the config asks for."""
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
  """When anything in a folder was last written, renamed or copied there."""
  return max(path.stat().st_ctime_ns for path in (folder, *folder.rglob("*")))
