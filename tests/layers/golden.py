"""Inputs A of the golden numbers: two pictures of three regions, captions of 4 and 3 words."""

import numpy as np


def unit(x):
  return x / (np.sqrt((x**2).sum(-1, keepdims=True)) + 1e-8)


def inputs(regions=3, size=5, words=4):
  """Regions [2, R, J], words [2, T, J] (unit vectors) and the mask of lengths 4 and 3."""
  i, r, d = np.ogrid[:2, :regions, :size]
  v = unit(np.sin(1 + 0.7 * i + 1.3 * r + 0.9 * d))
  c, t, d = np.ogrid[:2, :words, :size]
  e = unit(np.cos(0.5 + 1.1 * c + 0.8 * t + 0.6 * d))
  mask = np.arange(words) < np.array([[4], [3]])
  return v, e, mask


def numbers(text):
  """The numbers of a row of a table."""
  return np.array([float(word) for word in text.split()])


def sine(shape, k):
  """The filling 0.3 sin(0.37 j + k) of the golden numbers, in PyTorch's (out, in) layout."""
  return 0.3 * np.sin(0.37 * np.arange(np.prod(shape)) + k).reshape(shape)
