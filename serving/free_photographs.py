"""Photographs that anybody may use: those in the package scikit-image, which is optional.

The files are found without importing the package, which would take a second.
"""

import importlib.util
import pathlib

HOW_TO_GET = "pip install gcap_tf[demo] brings five free photographs (scikit-image)"
# Title -> file in the package's folder of data; each is in the public domain or CC0.
_FILES = {
  "An astronaut": "astronaut.png",
  "A cat": "chelsea.png",
  "A cup of coffee": "coffee.png",
  "A motorcycle": "motorcycle_left.png",
  "A rocket": "rocket.jpg",
}


def find() -> dict[str, pathlib.Path]:
  """Returns title -> file; empty if scikit-image is not installed."""
  package = importlib.util.find_spec("skimage")
  if package is None:
    return {}
  folders = [pathlib.Path(place) / "data" for place in package.submodule_search_locations or ()]
  found = {title: folder / name for title, name in _FILES.items() for folder in folders}
  return {title: path for title, path in found.items() if path.is_file()}
