"""The attention of a word as a picture to lay over a photograph: clear where it looked, dark
elsewhere, with a warm light at the brightest place. The server's page draws the same."""

import base64
import io

import numpy as np
from PIL import Image, ImageFilter

SIDE = 96
_DARK, _WARM = (8, 12, 20), (255, 176, 59)
_CLEAR_FROM = 0.6  # share of the largest attention at which the picture is seen as it is
_DARKEST, _WARMEST = 0.78, 0.24


def layer(attention: np.ndarray, boxes_01: np.ndarray, aspect: float) -> Image.Image:
  """Returns an RGBA picture whose longer side is 96 pixels.

  Args:
    attention: [R] weights of the regions.
    boxes_01: [R, 4] the regions, from 0 to 1.
    aspect: width of the photograph divided by its height.
  """
  width, height = (SIDE, round(SIDE / aspect)) if aspect >= 1 else (round(SIDE * aspect), SIDE)
  heat = np.zeros((max(1, height), max(1, width)), np.float32)
  sides = np.array([heat.shape[1], heat.shape[0]] * 2)
  for weight, box in zip(attention, boxes_01, strict=True):
    x1, y1, x2, y2 = np.rint(np.clip(box, 0, 1) * sides).astype(int).tolist()
    heat[y1 : max(y2, y1 + 1), x1 : max(x2, x1 + 1)] += weight
  gray = Image.fromarray((255 * heat / max(float(heat.max()), 1e-9)).round().astype(np.uint8))
  soft = np.asarray(gray.filter(ImageFilter.BoxBlur(2)), np.float32)
  share = soft / max(float(soft.max()), 1e-9)
  is_dark = share < _CLEAR_FROM
  color = np.where(is_dark[..., None], _DARK, _WARM)
  dark = _DARKEST * (1 - share / _CLEAR_FROM)
  warm = _WARMEST * (share - _CLEAR_FROM) / (1 - _CLEAR_FROM)
  alpha = 255 * np.where(is_dark, dark, warm)
  return Image.fromarray(np.dstack([color, alpha]).round().astype(np.uint8))


def data_uri(image: Image.Image) -> str:
  """Returns a picture as an address that holds all of it."""
  encoded = io.BytesIO()
  image.save(encoded, "PNG", optimize=True)
  return f"data:image/png;base64,{base64.b64encode(encoded.getvalue()).decode()}"
