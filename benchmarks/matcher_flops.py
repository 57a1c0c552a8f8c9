"""Counts the floating-point operations of a matcher from its matrix products."""

from typing import Any, Protocol


class Shape(Protocol):
  """Regions of a picture and words of a caption."""

  regions: int
  words: int


def _products(*sizes: int) -> float:
  """Returns the multiplications and additions of a matrix product m x k by k x n."""
  total = 2.0
  for size in sizes:
    total *= size
  return total


def encoding(config: Any, pictures: int, captions: int, shape: Shape) -> float:
  """Returns the operations to encode regions and words into the joint space."""
  j = config.joint_size
  regions = _products(pictures * shape.regions, config.feature_size, j)
  words = 2 * _products(captions * shape.words, config.word_size + j, 3 * j)
  return regions + words


def scoring(config: Any, model: str, pairs: int, shape: Shape) -> float:
  """Returns the operations to score encoded pairs as the library does."""
  j, r, t = config.joint_size, shape.regions, shape.words
  affinities = _products(pairs * r, j, t)
  if model == "scan":
    return affinities + _products(pairs * r, r, t)
  if model == "bfan":
    return 2 * affinities + _products(pairs * r, r, t) + _products(pairs * t, t, r)
  s = config.similarity_size
  vectors = _products(pairs * t, r, j) + _products(pairs * (t + 1), j, s)
  head = 0.0
  if model == "sgr":
    # Every step but the last updates all nodes by two products with S x S matrices.
    head = (config.reasoning_steps - 1) * 2 * _products(pairs * (t + 1), s, s)
    head += (config.reasoning_steps - 1) * 2 * _products(pairs * (t + 1), t + 1, s)
  return affinities + _products(pairs * r, r, t) + vectors + head


def training(config: Any, model: str, batch: int, shape: Shape) -> float:
  """Returns the operations of a step: all pairs scored once, and gradients for some.

  A gradient costs twice its forward pass; the features need none.
  """
  encode = encoding(config, batch, batch, shape)
  backward = 2 * encode - _products(batch * shape.regions, config.feature_size, config.joint_size)
  every = scoring(config, model, batch * batch, shape)
  again = 2 * every if model == "saf" else 3 * scoring(config, model, 3 * batch, shape)
  return encode + backward + every + again
