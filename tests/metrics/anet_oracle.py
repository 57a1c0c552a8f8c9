"""A second statement of the ActivityNet-Entities evaluator: plain loops over JSON values."""

import collections

import numpy as np

from tests.metrics import grounding_oracle


def _hit(segment, index, frames):
  for places, frame, box in zip(
    segment["process_idx"], segment["frame_ind"], segment["process_bnd_box"], strict=True
  ):
    if index in places and grounding_oracle.official_iou(frames[frame], box) > 0.5:
      return 1
  return 0


def _words(segment):
  """Position -> class of the annotated words."""
  words = {}
  for names, places in zip(segment["process_clss"], segment["process_idx"], strict=True):
    for name, place in zip(names, places, strict=True):
      words.setdefault(place, name)
  return words


def given_sentences(annotations, results):
  hits = collections.defaultdict(list)
  for video, entry in annotations.items():
    for name, segment in entry["segments"].items():
      for place, label in _words(segment).items():
        predicted = results.get(video, {}).get(name, {"idx_in_sent": []})
        hit = 0
        if place in predicted["idx_in_sent"]:
          row = predicted["idx_in_sent"].index(place)
          hit = _hit(segment, place, predicted["bbox_for_all_frames"][row])
        hits[label].append(hit)
  return sum(sum(v) / len(v) for v in hits.values()) / len(hits)


def generated(annotations, results, mode):
  """Six figures: by class, then per sentence."""
  precision, recall = collections.defaultdict(list), collections.defaultdict(list)
  vocabulary, rows, unlabelled, submitted = set(), [], 0, 0
  submitted = sum(len(segments) for segments in results.values())
  for video, entry in annotations.items():
    for name, segment in entry["segments"].items():
      words = _words(segment)
      if not words:
        continue
      predicted = results.get(video, {}).get(name)
      judged, sought = [], []
      if predicted is not None:
        pairs = [
          (label, place)
          for labels, places in zip(segment["process_clss"], segment["process_idx"], strict=True)
          for label, place in zip(labels, places, strict=True)
        ]
        vocabulary |= {label for label, _ in pairs}
        others = {
          grounding_oracle.lemma(token)
          for place, token in enumerate(segment["tokens"])
          if place not in words and token
        }
        for label, frames in zip(predicted["clss"], predicted["bbox_for_all_frames"], strict=True):
          same = [place for other, place in pairs if other == label]
          if same:
            judged.append((label, _hit(segment, min(same), frames)))
          elif grounding_oracle.lemma(label) not in others and mode == "all":
            judged.append((label, 0))
      for place, label in words.items():
        if predicted is None:
          sought.append((label, 0))
        elif label in predicted["clss"]:
          frames = predicted["bbox_for_all_frames"][predicted["clss"].index(label)]
          sought.append((label, _hit(segment, place, frames)))
        elif mode == "all":
          sought.append((label, 0))
      for label, hit in judged:
        precision[label].append(hit)
      for label, hit in sought:
        recall[label].append(hit)
      if predicted is not None and not sought:
        unlabelled += 1
      elif predicted is not None:
        p = np.mean([hit for _, hit in judged]) if judged else 0.0
        r = np.mean([hit for _, hit in sought])
        rows.append((p, r, 2 * p * r / (p + r) if p + r else 0.0))
  size = max(len(vocabulary), 1)
  p = sum(sum(v) / len(v) for v in precision.values()) / size
  r = sum(sum(v) / len(v) for v in recall.values()) / size
  sentences = np.sum(rows, axis=0) / (submitted - unlabelled) if rows else np.zeros(3)
  return [p, r, 2 * p * r / (p + r) if p + r else 0.0, *sentences]


def random_evaluation(seed):
  """References of some videos and a submission for some segments, annotated or not."""
  rng = np.random.default_rng(seed)
  names, words = grounding_oracle.NAMES, grounding_oracle.WORDS

  def box():
    x, y = (int(v) for v in rng.integers(0, 2, 2))
    width, height = (int(v) for v in rng.choice([0, 2, 5], 2, p=[0.1, 0.15, 0.75]))
    return [x, y, x + width, y + height]

  def some(items, count):
    return [items[i] for i in rng.integers(0, len(items), count)]

  def segment(annotated):
    count = int(rng.integers(1, 5)) if annotated else 0
    places = [[int(i) for i in rng.permutation(8)[: int(rng.integers(1, 3))]] for _ in range(count)]
    labels = some(names, 8)  # the class of a word is the same in each of its boxes
    return {
      "tokens": some(words, int(rng.integers(0, 8))),
      "frame_ind": [int(v) for v in rng.integers(0, 3, count)],
      "process_bnd_box": [box() for _ in range(count)],
      "process_idx": places,
      "process_clss": [[labels[place] for place in row] for row in places],
    }

  def prediction():
    count = int(rng.integers(0, 5))
    return {
      "clss": some(names, count),
      "idx_in_sent": [int(v) for v in rng.integers(0, 8, count)],
      "bbox_for_all_frames": [[box() for _ in range(10)] for _ in range(count)],
    }

  annotations, results = {}, {"v_stranger": {"0": prediction()}}
  for n in range(int(rng.integers(1, 4))):
    count = int(rng.integers(1, 4))
    segments = {str(k): segment(k == 0 or rng.random() < 0.7) for k in range(count)}
    annotations[f"v_{n}"] = {"segments": segments}
    if n == 0 or rng.random() < 0.7:
      chosen = [k for k in segments if k == "0" or rng.random() < 0.8]
      results[f"v_{n}"] = {k: prediction() for k in chosen}
  return {"annotations": annotations}, {"results": results}
