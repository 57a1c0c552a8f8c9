"""Tensors in JSON, in the row ("instances") and column ("inputs") forms of TensorFlow Serving.

Strings are UTF-8; other bytes are written as {"b64": "..."}.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from serving import limits as limits_lib
from serving import predict, servables, status, tensors

_STRUCTURE = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.S)


def parse(body: bytes, limits: limits_lib.Limits) -> dict[str, Any]:
  """Parses the JSON object of a request; checks first that it does not nest too deep."""
  depth = 0
  for token in _STRUCTURE.finditer(body):
    first = body[token.start()]
    depth += (first in b"[{") - (first in b"]}")
    if depth > limits.json_depth:
      raise status.invalid(f"JSON nests deeper than {limits.json_depth} levels")
  try:
    value = json.loads(body)
  except (ValueError, RecursionError) as error:
    raise status.invalid(f"JSON Parse error: {error}") from None
  if not isinstance(value, dict):
    raise status.invalid("JSON Value: the request must be an object")
  return value


def arrays_of(
  request: dict[str, Any], signature: servables.Signature, limits: limits_lib.Limits
) -> dict[str, np.ndarray]:
  """Returns the checked arrays of a REST request in either form."""
  if ("instances" in request) == ("inputs" in request):
    raise status.invalid('Request must have one of "instances" (rows) or "inputs" (columns)')
  if "instances" in request:
    columns = _columns(request["instances"], signature)
  else:
    columns = request["inputs"]
    if not isinstance(columns, dict) or set(columns) == {"b64"}:
      columns = _single_input(columns, signature)
  predict.check_names(set(columns), signature)
  return {
    name: _array(name, value, signature.inputs[name], limits) for name, value in columns.items()
  }


def answer(outputs: Mapping[str, np.ndarray], rows: bool) -> dict[str, Any]:
  """Returns the body of an answer: `predictions` for rows, `outputs` for columns."""
  plain = {name: _to_json(array, name) for name, array in outputs.items()}
  if not rows:
    return {"outputs": plain if len(plain) > 1 else next(iter(plain.values()))}
  if any(array.ndim == 0 for array in outputs.values()):
    raise status.invalid('this signature has no batch dimension: use the "inputs" form')
  if len(plain) == 1:
    return {"predictions": next(iter(plain.values()))}
  names = list(plain)
  lists = (plain[name] for name in names)
  return {"predictions": [dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True)]}


def _columns(instances: Any, signature: servables.Signature) -> dict[str, list[Any]]:
  if not isinstance(instances, list) or not instances:
    raise status.invalid('"instances" must be a list with at least one row')
  if not isinstance(instances[0], dict) or set(instances[0]) == {"b64"}:
    return _single_input(instances, signature)
  names = set(instances[0])
  for index, row in enumerate(instances):
    if not isinstance(row, dict) or set(row) != names:
      raise status.invalid(f'"instances" row {index} does not have the keys of row 0')
  return {name: [row[name] for row in instances] for name in sorted(names)}


def _single_input(value: Any, signature: servables.Signature) -> dict[str, Any]:
  """Names a bare value, which is allowed if the signature has one input."""
  if len(signature.inputs) != 1:
    raise status.invalid(
      f"the signature has {len(signature.inputs)} inputs: give an object with their names"
    )
  return {next(iter(signature.inputs)): value}


def _array(name: str, value: Any, spec: servables.Spec, limits: limits_lib.Limits) -> np.ndarray:
  if spec.dtype == tf.string:
    array = _string_array(name, value)
  else:
    array = _number_array(name, value, spec)
  array = _restore_sizes(array, spec)
  tensors.check_shape(name, array.shape, spec, limits)
  tensors.check_values(name, array, limits)
  return array


def _number_array(name: str, value: Any, spec: servables.Spec) -> np.ndarray:
  wanted = np.dtype(spec.dtype.as_numpy_dtype)
  try:
    array = np.array(value)
  except (ValueError, OverflowError):
    raise status.invalid(
      f'input "{name}" is not a full tensor: its lists differ in length'
    ) from None
  if array.size == 0:
    return np.zeros(array.shape, wanted)
  kinds = {"f": "fiu", "i": "iu", "b": "b"}[wanted.kind]
  if array.dtype.kind not in kinds:
    raise status.invalid(f'input "{name}" must hold numbers of type {spec.dtype.name} only')
  if wanted.kind == "i":
    bounds = np.iinfo(wanted)
    if array.min() < bounds.min or array.max() > bounds.max:
      raise status.invalid(f'input "{name}" holds a number out of the range of {spec.dtype.name}')
  with np.errstate(over="ignore"):  # check_values refuses infinity
    return array.astype(wanted)


def _string_array(name: str, value: Any) -> np.ndarray:
  shape, flat = [], [value]
  while flat and isinstance(flat[0], list):
    size = len(flat[0])
    if any(not isinstance(item, list) or len(item) != size for item in flat):
      raise status.invalid(f'input "{name}" is not a full tensor: its lists differ in length')
    shape.append(size)
    flat = [inner for item in flat for inner in item]
  array = np.empty(len(flat), object)
  array[:] = [_bytes(name, item) for item in flat]
  return array.reshape(shape)


def _bytes(name: str, item: Any) -> bytes:
  if isinstance(item, str):
    try:
      return item.encode()
    except UnicodeEncodeError:
      raise status.invalid(f'input "{name}" holds a string that is not Unicode') from None
  if isinstance(item, dict) and set(item) == {"b64"} and isinstance(item["b64"], str):
    try:
      return base64.b64decode(item["b64"], validate=True)
    except (binascii.Error, ValueError):
      raise status.invalid(f'input "{name}" holds a b64 string that does not decode') from None
  raise status.invalid(f'input "{name}" must hold strings or {{"b64": "..."}} only')


def _restore_sizes(array: np.ndarray, spec: servables.Spec) -> np.ndarray:
  """Restores the trailing sizes that an empty JSON list cannot express."""
  if array.size or spec.shape is None or array.ndim >= len(spec.shape):
    return array
  missing = (size or 0 for size in spec.shape[array.ndim :])
  return array.reshape((*array.shape, *missing))


def _to_json(array: np.ndarray, name: str) -> Any:
  if array.dtype == object:
    as_b64 = name.endswith("_bytes")
    return _map_nested(array.tolist(), lambda item: _text(item, as_b64))
  if array.dtype.kind == "f" and not np.isfinite(array).all():
    return _map_nested(array.tolist(), lambda x: x if np.isfinite(x) else None)
  return array.tolist()


def _map_nested(value: Any, function: Any) -> Any:
  if isinstance(value, list):
    return [_map_nested(item, function) for item in value]
  return function(value)


def _text(item: bytes, as_b64: bool) -> Any:
  if as_b64:
    return {"b64": base64.b64encode(item).decode()}
  return item.decode("utf-8", "replace")
