"""Captions clips: frames to regions, regions to a sentence whose words have a box in every frame.

A clip is one segment that lasts as long as its video. Its regions are made as those that the
captioner was trained on: by the run's own detector, in as many frames.
"""

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf
from PIL import Image

from gcap_tf import batch as batches
from gcap_tf import errors, files
from gcap_tf.data import records
from gcap_tf.decoding import answers as answer_rules
from gcap_tf.decoding import config as decode_config
from gcap_tf.decoding import decoder
from gcap_tf.evaluation import captioner_evaluation
from gcap_tf.runs import detector_runs, photograph_runs, run_folders
from gcap_tf.text import object_words, thing_words, word_lemmas
from gcap_tf.vision import clips
from gcap_tf.vision.extraction import clip_regions, region_extractor
from gcap_tf.visuals import strips


@dataclasses.dataclass(frozen=True)
class ClipAnswer:
  """The caption of a clip.

  Attributes:
    clip: its frames.
    answer: the words, and what they point at.
  """

  clip: clips.Clip
  answer: captioner_evaluation.Answer

  @property
  def grounded(self) -> list[bool]:
    """Whether each word names a thing."""
    found = self.answer.grounded
    return [False] * len(self.answer.words) if found is None else [bool(each) for each in found]

  @property
  def boxes_01(self) -> np.ndarray:
    """[words, F, 4] of the upright frame, from 0 to 1."""
    return self.answer.frame_boxes_px / np.tile(self.clip.size, 2)

  def row(self) -> dict[str, Any]:
    """The row of `trainers.caption`: for each word a box in each frame, in pixels."""
    answer = self.answer
    return {
      "image_id": answer.image_id,
      "caption": answer.caption,
      "words": list(answer.words),
      "box_frames": np.round(answer.frame_boxes_px, 2).tolist(),
      "frames": list(self.clip.numbers),
      "clip_frames": self.clip.count,
      "image_size": list(self.clip.size),
      "log_prob": answer.log_prob,
      "grounded": self.grounded,
      "answered": answer.answered,
      "score": round(answer.score, 4),
    }

  def strip(self) -> Image.Image:
    """The frames side by side, a box in the colour of each word that names a thing."""
    frames = [Image.fromarray(frame) for frame in self.clip.frames]
    return strips.grounded_strip(frames, self.answer.words, self.boxes_01, self.grounded)


class ClipCaptioner:
  """A captioner of videos and the detector of its regions.

  Attributes:
    run: the captioner.
    frames: how many frames of a clip it looks at.
  """

  def __init__(
    self,
    run: run_folders.Run,
    config: decode_config.DecodeConfig,
    rules: answer_rules.AnswerRules | None = None,
    detector: str = "",
  ):
    """Loads the detector.

    Args:
      run: the captioner.
      config: how words are chosen.
      rules: which words name things, and when there is no answer.
      detector: takes the place of the run's own; as `trainers.extract_regions --detector`.
    """
    self.run, self.frames = run, run.model.num_frames
    if self.frames == 1:
      raise errors.UserError(
        f"{run.folder} captions pictures, not videos; give a captioner that was trained on videos "
        "(docs/video.md)"
      )
    found = photograph_runs.load(run, detector)
    self._most, self._square = found.recipe.regions, found.recipe.square
    own = str(found.detector.folder)
    extraction = region_extractor.ExtractionConfig(
      detector=found.foreign or own,
      describer=own,
      regions=self._most,
      min_score=found.recipe.min_score,
    )
    self._extractor = region_extractor.RegionExtractor(
      extraction, lambda name: found.detector if name == own else detector_runs.load(name)
    )
    self._decode = decoder.compiled(run.model, config, rules and with_classes(rules, run))

  def caption(self, path: files.PathLike) -> ClipAnswer:
    """Captions a clip; a `UserError` names one that cannot be read."""
    clip = clips.read(path, self.frames)
    regions = clip_regions.look(self._extractor, clip.frames, clip.name)
    batch = self._batch(clip, regions)
    (answer,) = captioner_evaluation.caption_batch(self._decode, self.run.vocabulary, batch)
    return ClipAnswer(clip, answer)

  def _batch(self, clip: clips.Clip, regions: records.Regions) -> dict[str, tf.Tensor]:
    model, ids = self.run.model.config, self.run.vocabulary.label_ids
    size = np.array([clip.size[0]] * 2 if self._square else clip.size, np.float32)
    segment = records.Segment(clip.name, "0", 0, 1, 0.0, 1.0, 1.0, self.frames)
    row = batches.region_row(
      regions.count,
      image_id=clip.name.encode(),
      image_size=size,
      features=regions.features,
      boxes=regions.boxes_px / np.tile(size, 2),
      region_labels=np.array([ids.get(label, 0) for label in regions.labels], np.int32),
      frame=regions.frame,
      global_feature=np.concatenate([regions.global_feature, segment.position]),
      grid_features=regions.grid_features,
      grid_mask=np.ones(self.frames, bool),
      segment=np.array(regions.span, np.int32),
    )
    sizes = {
      "R": self.frames * self._most,
      "D": model.feature_size,
      "G": len(row["global_feature"]),
      "C": self.frames,
      "M": regions.grid_features.shape[1],
    }
    wanted = batches.names(["regions"], ["grid_features", "grid_mask", "segment"])
    return batches.tensors(batches.build([row], wanted, sizes))


def with_classes(rules: answer_rules.AnswerRules, run: run_folders.Run) -> answer_rules.AnswerRules:
  """The rules with all words that name a class of the run's data: "he" is a thing in videos."""
  names = run.config.get("object_classes")
  if not names:
    return rules
  classes = object_words.ObjectClasses(names, lemma=word_lemmas.lemma)
  named = {
    index
    for index, word in enumerate(run.vocabulary.words)
    if thing_words.is_word(word) and classes.of(word) is not None
  }
  return dataclasses.replace(rules, things=tuple(sorted(named.union(rules.things))))
