"""Answers a request: finds the version, checks the inputs, queues the job and waits.

gRPC and REST both use this module, so they behave the same.
"""

import concurrent.futures
import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from tensorflow_serving.apis import model_pb2, predict_pb2

from serving import limits as limits_lib
from serving import metrics as metrics_lib
from serving import models as models_lib
from serving import servables, status, tensors
from serving.wire import region_checks

ToArray = Callable[[servables.Signature], dict[str, np.ndarray]]


@dataclasses.dataclass(frozen=True)
class Answer:
  """The outputs of a signature, and the model, version and signature that computed them."""

  spec: model_pb2.ModelSpec
  outputs: Mapping[str, np.ndarray]


class Predictor:
  """Answers requests of many threads within the limits."""

  def __init__(
    self,
    models: models_lib.Models,
    limits: limits_lib.Limits,
    metrics: metrics_lib.Metrics,
  ):
    self.models, self.limits, self.metrics = models, limits, metrics
    self._slots = threading.BoundedSemaphore(limits.in_flight)

  def predict(
    self,
    spec: model_pb2.ModelSpec,
    inputs: ToArray,
    *,
    seconds: float | None,
    entrypoint: str,
    output_filter: tuple[str, ...] = (),
    on_queued: Callable[[concurrent.futures.Future], None] = lambda answer: None,
  ) -> Answer:
    """Runs one signature; the caller holds a `slot`.

    Args:
      spec: model, version or label, and signature.
      inputs: returns the arrays for the signature that was found; an error that it raises
        becomes the answer.
      seconds: time until the deadline; None if the client set none.
      entrypoint: "GRPC" or "REST", for the metrics.
      output_filter: names of the outputs to return; empty returns all.
      on_queued: called with the pending answer, so that the caller can cancel it.
    """
    started = time.monotonic()
    deadline = started + self.limits.deadline(seconds)
    with self.counted(spec.name, entrypoint, started), self.models.use(spec) as version:
      signature = version.servable.signature(spec.signature_name)
      check_filter(output_filter, signature)
      arrays = inputs(signature)
      check_regions(arrays, signature, self.limits)
      answer = version.batchers.get(signature).submit(arrays, deadline)
      on_queued(answer)
      outputs = _wait(answer, deadline)
      names = output_filter or sorted(signature.outputs)
      answered = model_pb2.ModelSpec(name=spec.name, signature_name=signature.name)
      answered.version.value = version.number
      return Answer(answered, {name: outputs[name] for name in names})

  @contextlib.contextmanager
  def counted(self, model_name: str, entrypoint: str, started: float) -> Iterator[None]:
    """Counts one request, its status and its latency."""
    known = model_name if self.models.knows(model_name) else "unknown"
    outcome = "OK"
    try:
      yield
    except status.ServingError as error:
      outcome = error.code.name
      raise
    except BaseException:
      outcome = "INTERNAL"
      raise
    finally:
      self.metrics.requests.add(known, outcome)
      microseconds = (time.monotonic() - started) * 1e6
      self.metrics.latency.observe(microseconds, known, "Predict", entrypoint)

  @contextlib.contextmanager
  def slot(self) -> Iterator[None]:
    """Reserves one of the `in_flight` places; raises UNAVAILABLE if all are taken.

    Callers reserve the place before they parse the request, so that a refusal costs a
    full server almost nothing.
    """
    if not self._slots.acquire(blocking=False):
      self.metrics.refused.add("in_flight")
      raise status.unavailable(
        f"the server already works on {self.limits.in_flight} requests, its limit; try again later"
      )
    try:
      yield
    finally:
      self._slots.release()


def arrays_of(
  request: predict_pb2.PredictRequest, signature: servables.Signature, limits: limits_lib.Limits
) -> dict[str, np.ndarray]:
  """Returns the checked arrays of a gRPC request."""
  check_names(set(request.inputs), signature)
  return {
    name: tensors.from_proto(name, proto, signature.inputs[name], limits)
    for name, proto in request.inputs.items()
  }


def check_names(sent: set[str], signature: servables.Signature) -> None:
  wanted = set(signature.inputs)
  if sent != wanted:
    raise status.invalid(
      f"input size does not match signature: {len(sent)}!={len(wanted)} "
      f"len({_set(sent)}) != len({_set(wanted)}). "
      f"Sent extra: {_set(sent - wanted)}. Missing but required: {_set(wanted - sent)}."
    )


def check_filter(names: tuple[str, ...], signature: servables.Signature) -> None:
  for name in names:
    if name not in signature.outputs:
      raise status.invalid(
        f"output tensor alias not found in signature: {name} "
        f"Outputs expected to be in the set {_set(set(signature.outputs))}."
      )
  if len(set(names)) != len(names):
    raise status.invalid(f"duplicate output tensor alias in the filter {list(names)}")


def check_regions(
  arrays: dict[str, np.ndarray], signature: servables.Signature, limits: limits_lib.Limits
) -> None:
  """Checks batch size, region count and boxes: all inputs agree, within the limits."""
  if tensors.PICTURES in signature.inputs:
    _check_batch(len(arrays[tensors.PICTURES]), limits)
  if "num_regions" not in signature.inputs:
    return
  rows = {name: len(array) for name, array in arrays.items()}
  if len(set(rows.values())) > 1:
    raise status.invalid(f"inputs disagree on the batch size: {_sizes(rows)}")
  regions = {
    name: array.shape[1]
    for name, array in arrays.items()
    if array.ndim > 1 and name not in tensors.NOT_REGIONS
  }
  if len(set(regions.values())) > 1:
    raise status.invalid(f"inputs disagree on the number of regions: {_sizes(regions)}")
  region_count = max(regions.values())
  _check_batch(len(arrays["num_regions"]), limits)
  if region_count > limits.regions:
    raise status.invalid(f"{region_count} regions of a picture; the limit is {limits.regions}")
  for row, count in enumerate(arrays["num_regions"]):
    if not 0 <= count <= region_count:
      raise status.invalid(
        f'input "num_regions" is {count} in row {row}; expected 0 to {region_count}'
      )
  if "boxes" in arrays:
    problem = region_checks.box_problem(arrays["boxes"], arrays["num_regions"])
    if problem:
      raise status.invalid(problem)


def _check_batch(count: int, limits: limits_lib.Limits) -> None:
  if count > limits.batch:
    raise status.invalid(f"{count} pictures in one request; the limit is {limits.batch}")


def _wait(answer: concurrent.futures.Future, deadline: float) -> Mapping[str, np.ndarray]:
  try:
    return answer.result(timeout=max(0.0, deadline - time.monotonic()))
  except concurrent.futures.TimeoutError:
    answer.cancel()
    raise status.deadline_exceeded("the deadline passed before the answer was ready") from None
  except concurrent.futures.CancelledError:
    raise status.deadline_exceeded("the request was cancelled") from None


def _set(names: set[str]) -> str:
  return "{" + ",".join(sorted(names)) + "}"


def _sizes(sizes: dict[str, int]) -> str:
  return ", ".join(f"{name} {size}" for name, size in sorted(sizes.items()))
