"""A second statement of the grounding evaluators: plain loops, one word at a time.

Works on the evaluators' JSON values, shares no code with the library.
"""

import collections

import numpy as np


def lemma(word):
  """A toy lemma for tests: plural s goes."""
  return word[:-1] if word.endswith("s") else word


def official_iou(predicted, reference):
  px1, py1, px2, py2 = (np.float32(v) for v in predicted)
  rx1, ry1, rx2, ry2 = (np.float32(v) for v in reference)
  one = np.float32(1)
  if px2 - px1 + one == 1 and py2 - py1 + one == 1:
    return -1.0
  if rx2 - rx1 + one == 1 and ry2 - ry1 + one == 1:
    return 0.0
  width = max(min(px2, rx2) - max(px1, rx1) + one, np.float32(0))
  height = max(min(py2, ry2) - max(py1, ry1) + one, np.float32(0))
  common = width * height
  first = (px2 - px1 + one) * (py2 - py1 + one)
  second = (rx2 - rx1 + one) * (ry2 - ry1 + one)
  return common / (first + second - common)


def generated(annotations, results, mode):
  """Precision, recall, F1 of the Flickr30k loop."""
  precision, recall = collections.defaultdict(list), collections.defaultdict(list)
  vocabulary = set()
  for annotation in annotations:
    if str(annotation["image_id"]) not in results:
      continue
    predicted = results[str(annotation["image_id"])][0]
    for sentence in annotation["captions"]:
      vocabulary |= set(sentence["process_clss"])
      others = set()
      for index, token in enumerate(sentence["tokens"]):
        if index not in sentence["process_idx"] and token != "":
          others.add(lemma(token))
      for name, box in zip(predicted["clss"], predicted["bbox"], strict=True):
        places = [
          (sentence["process_idx"][k], k)
          for k in range(len(sentence["process_clss"]))
          if sentence["process_clss"][k] == name
        ]
        if places:
          target = sentence["process_bnd_box"][min(places)[1]]
          precision[name].append(1 if official_iou(box, target) > 0.5 else 0)
        elif lemma(name) not in others and mode == "all":
          precision[name].append(0)
  for annotation in annotations:
    for sentence in annotation["captions"]:
      for k, name in enumerate(sentence["process_clss"]):
        if str(annotation["image_id"]) not in results:
          recall[name].append(0)
          continue
        predicted = results[str(annotation["image_id"])][0]
        for other, box in zip(predicted["clss"], predicted["bbox"], strict=True):
          if other == name:
            hit = official_iou(box, sentence["process_bnd_box"][k]) > 0.5
            recall[name].append(1 if hit else 0)
            break
        else:
          if mode == "all":
            recall[name].append(0)
  if not vocabulary:
    return 0.0, 0.0, 0.0
  p = sum(sum(v) / len(v) for v in precision.values()) / len(vocabulary)
  r = sum(sum(v) / len(v) for v in recall.values()) / len(vocabulary)
  return p, r, 2 * p * r / (p + r) if p + r else 0.0


def given_sentences(annotations, results):
  """Attention accuracy of the Flickr30k loop."""
  hits = collections.defaultdict(list)
  for annotation in annotations:
    for number, sentence in enumerate(annotation["captions"]):
      for k, index in enumerate(sentence["process_idx"]):
        hit = 0
        if str(annotation["image_id"]) in results:
          predicted = results[str(annotation["image_id"])][number]
          if index in predicted["idx_in_sent"]:
            box = predicted["bbox"][predicted["idx_in_sent"].index(index)]
            hit = 1 if official_iou(box, sentence["process_bnd_box"][k]) > 0.5 else 0
        hits[sentence["process_clss"][k]].append(hit)
  return sum(sum(v) / len(v) for v in hits.values()) / len(hits)


NAMES = ("dog", "dogs", "ball", "man", "hats")
WORDS = (*NAMES, "hat", "balls", "a", "", "men")


def _box(rng):
  """A small box: one-pixel ones, equal ones and an IoU of exactly one half are common."""
  x, y = (int(v) for v in rng.integers(0, 2, 2))
  width, height = (int(v) for v in rng.choice([0, 2, 5], 2, p=[0.1, 0.15, 0.75]))
  return [x, y, x + width, y + height]


def _names(rng, count):
  return [NAMES[i] for i in rng.integers(0, len(NAMES), count)]


def _sentence(rng):
  count = int(rng.integers(0, 5))
  return {
    "tokens": [WORDS[i] for i in rng.integers(0, len(WORDS), rng.integers(0, 8))],
    "process_idx": [int(i) for i in rng.permutation(9)[:count]],
    "process_clss": _names(rng, count),
    "process_bnd_box": [_box(rng) for _ in range(count)],
  }


def _prediction(rng):
  count = int(rng.integers(0, 6))
  return {
    "clss": _names(rng, count),
    "idx_in_sent": [int(i) for i in rng.integers(0, 9, count)],
    "bbox": [_box(rng) for _ in range(count)],
  }


def random_evaluation(seed, mode):
  """References of some pictures and a submission for some of them, and for another."""
  rng = np.random.default_rng(seed)
  references, results = [], {"stranger": [_prediction(rng)]}
  for n in range(int(rng.integers(1, 6))):
    captions = [_sentence(rng) for _ in range(int(rng.integers(1, 4)))]
    references.append({"image_id": n, "captions": captions})
    if n == 0 or rng.random() < 0.6:
      size = len(captions) if mode == "GT" else int(rng.integers(1, 3))
      results[str(n)] = [_prediction(rng) for _ in range(size)]
  return {"annotations": references}, {"results": results, "eval_mode": mode}
