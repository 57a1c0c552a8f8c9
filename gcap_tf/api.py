"""What a person writes in three lines:

    captioner = gcap_tf.load()                      the shipped one, a run, or a SavedModel
    answer = captioner.caption("photo.jpg")         also a list, bytes, a PIL image, an array
    answer.draw("out.png")

See `answers.Answer` for what is in an answer.
"""

import dataclasses
import functools
import itertools
import pathlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from export import photograph_module, saved_model
from gcap_tf import answers, errors, files, picture_inputs, saved_graphs
from gcap_tf.decoding import config as decode_config
from gcap_tf.evaluation import captioner_evaluation
from gcap_tf.runs import detector_runs, photograph_runs, run_folders
from gcap_tf.shipped import folders as shipped_folders
from gcap_tf.vision import pictures as picture_files
from gcap_tf.vision.extraction import region_extractor

BATCH = 8  # pictures that are captioned together
Decode = str | decode_config.DecodeConfig
Outputs = dict[str, np.ndarray]
_METHODS = ("greedy", "beam")


class Backend(Protocol):
  """Answers picture files; see export/photograph_module.py for what it returns."""

  def answer(self, given: Sequence[picture_inputs.Given], decode: Decode) -> Outputs:
    """Arrays that lead with the pictures."""


class Captioner:
  """A captioner of photographs.

  Attributes:
    name: where it came from.
    run: the run with its Keras model; None if it is a SavedModel.
    detector: the run of its detector; None if it is a SavedModel.
  """

  def __init__(
    self,
    name: str,
    backend: Backend,
    run: run_folders.Run | None = None,
    detector: detector_runs.DetectorRun | None = None,
  ):
    self.name, self.run, self.detector = name, run, detector
    self._backend = backend

  def caption(self, pictures: Any, decode: Decode = "greedy"):
    """Captions a picture, or a list of pictures.

    Args:
      pictures: a path, the bytes of a file, a PIL image, an array [height, width, 3] of uint8; or
        a list of them.
      decode: "greedy", "beam", or a `DecodeConfig`.

    Returns:
      an `Answer`, or a list of them for a list. In a list, a damaged picture has an answer with an
      `error`; alone it is a `UserError`.
    """
    if picture_inputs.is_several(pictures):
      return list(self.caption_each(pictures, decode))
    (answer,) = self.caption_each([pictures], decode)
    if answer.error:
      name = pictures if isinstance(pictures, (str, pathlib.Path)) else "the picture"
      known = answer.error.startswith(str(name))
      raise errors.UserError(answer.error if known else f"{name}: {answer.error}")
    return answer

  def caption_each(
    self, pictures: Iterable[Any], decode: Decode = "greedy"
  ) -> Iterator[answers.Answer]:
    """Captions pictures one after the other; reads and answers a few at a time."""
    todo = iter(pictures)
    while batch := [picture_inputs.read(each) for each in itertools.islice(todo, BATCH)]:
      outputs = self.arrays(batch, decode)
      for row, given in enumerate(batch):
        answer = answers.from_outputs(outputs, row, given.image_id, given.data)
        if given.error:
          answer = dataclasses.replace(answer, error=given.error)
        yield answer

  def arrays(self, given: Sequence[picture_inputs.Given], decode: Decode = "greedy") -> Outputs:
    """The outputs of the served signatures, for pictures of `picture_inputs.read`."""
    if isinstance(decode, str) and decode not in _METHODS:
      raise errors.UserError(f'decode is "{decode}"; choose from {", ".join(_METHODS)}')
    return self._backend.answer(given, decode)


class RunBackend:
  """A run and its detector, as one graph in memory: the graph that an export saves."""

  def __init__(self, photographs: photograph_runs.PhotographRun):
    self.photographs = photographs
    length = captioner_evaluation.max_length(photographs.run)
    config = saved_model.ExportConfig(max_length=length)
    self.module = saved_model.make_photograph_module(photographs, config, webp=True)

  def answer(self, given: Sequence[picture_inputs.Given], decode: Decode) -> Outputs:
    config = self.module.decoding(decode) if isinstance(decode, str) else decode
    data = tf.constant([each.data for each in given], tf.string)
    return {name: value.numpy() for name, value in self._graph(config)(data).items()}

  @functools.lru_cache(maxsize=4)  # noqa: B019 - a backend lives as long as its captioner
  def _graph(self, config: decode_config.DecodeConfig):
    return tf.function(
      lambda data: self.module.caption_files(data, config),
      input_signature=[tf.TensorSpec([None], tf.string)],
      autograph=False,
    )


class ForeignBackend(RunBackend):
  """The same with boxes of another program's detector, which runs in Python."""

  def __init__(self, photographs: photograph_runs.PhotographRun):
    super().__init__(photographs)
    recipe, own = photographs.recipe, photographs.detector
    config = region_extractor.ExtractionConfig(
      detector=photographs.foreign,
      describer=str(own.folder),
      regions=recipe.regions,
      min_score=recipe.min_score,
    )
    self._extractor = region_extractor.RegionExtractor(
      config, lambda name: own if name == str(own.folder) else detector_runs.load(name)
    )

  def answer(self, given: Sequence[picture_inputs.Given], decode: Decode) -> Outputs:
    config = self.module.decoding(decode) if isinstance(decode, str) else decode
    rows = [self._one(each, config) for each in given]
    return {name: _stacked([row[name] for row in rows]) for name in rows[0]}

  def _one(self, given: picture_inputs.Given, config: decode_config.DecodeConfig) -> Outputs:
    found = picture_files.try_decode(tf.constant(given.data))
    seen = self._extractor.look(found.image.numpy(), given.image_id)
    size = tf.reverse(tf.shape(found.image)[:2], [0])[tf.newaxis]
    seen |= {"image_size": tf.where(found.ok, size, 0), "problem": found.problem[tf.newaxis]}
    seen["region_mask"] &= found.ok
    answer = self._captions(config)(seen)
    return {name: value[0].numpy() for name, value in answer.items()}

  @functools.lru_cache(maxsize=4)  # noqa: B019
  def _captions(self, config: decode_config.DecodeConfig):
    return tf.function(
      lambda seen: self.module.caption_regions(seen, config), autograph=False, reduce_retracing=True
    )


class SavedBackend:
  """An exported captioner, in the words of its signatures."""

  def __init__(self, folder: pathlib.Path):
    saved_graphs.check(folder)
    self._loaded = tf.saved_model.load(str(folder))
    names = {"greedy": photograph_module.GREEDY, "beam": photograph_module.BEAM}
    signatures = self._loaded.signatures
    missing = [name for name in names.values() if name not in signatures]
    if missing:
      raise errors.UserError(
        f"{folder} captions regions, not photographs: it has no signature {missing[0]}; export a "
        "captioner of photographs, or give the exporter a detector (--detector=shipped)"
      )
    self._signatures = {method: signatures[name] for method, name in names.items()}

  def answer(self, given: Sequence[picture_inputs.Given], decode: Decode) -> Outputs:
    if not isinstance(decode, str):
      raise errors.UserError('a SavedModel decodes as it was exported: "greedy" or "beam"')
    data = tf.constant([each.data for each in given], tf.string)
    found = self._signatures[decode](**{photograph_module.IMAGE_BYTES: data})
    return {name: value.numpy() for name, value in found.items()}


def load(run: files.PathLike = shipped_folders.NAME, detector: str = "") -> Captioner:
  """Loads a captioner of photographs; see `gcap_tf.load`."""
  folder = saved_model_folder(pathlib.Path(run))
  if folder is not None:
    if detector:
      raise errors.UserError(f"{folder} has its detector in the graph; leave detector out")
    return Captioner(str(folder), SavedBackend(folder))
  photographs = photograph_runs.load(run, detector)
  if photographs.run.model.num_frames > 1:
    raise errors.UserError(
      f"{run} captions videos, not photographs: python -m trainers.caption --run={run} --video=CLIP"
    )
  backend = ForeignBackend if photographs.foreign else RunBackend
  return Captioner(str(run), backend(photographs), photographs.run, photographs.detector)


def saved_model_folder(path: pathlib.Path) -> pathlib.Path | None:
  """The SavedModel at a path: itself, or the newest version in a folder of them; else None."""
  if (path / "saved_model.pb").exists():
    return path
  if not path.is_dir():
    return None
  versions = [each for each in path.iterdir() if each.name.isdigit()]
  whole = [each for each in versions if (each / "saved_model.pb").exists()]
  return max(whole, key=lambda each: int(each.name)) if whole else None


def _stacked(rows: list[Any]) -> np.ndarray:
  """Rows in one array; those with fewer regions are padded."""
  if not np.ndim(rows[0]):
    return np.array(rows, object if isinstance(rows[0], bytes) else None)
  shape = np.max([row.shape for row in rows], axis=0)
  stacked = np.zeros((len(rows), *shape), rows[0].dtype)
  for place, row in zip(stacked, rows, strict=True):
    place[tuple(slice(size) for size in row.shape)] = row
  return stacked
