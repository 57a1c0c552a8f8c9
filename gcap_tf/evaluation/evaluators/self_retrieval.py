"""Self-retrieval of a captioner among N pictures; scores are kept on disk, block by block.

The scores of a block of pictures with all captions are one file, so a stopped evaluation
continues. The folder's name holds a fingerprint of weights, pictures and captions, so scores
of another model are never mixed in.
"""

import pathlib
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from gcap_tf import errors, files, fingerprints, progress
from gcap_tf.captioners import base
from gcap_tf.data.prepared import batch_maker, batch_plan, prepared_data
from gcap_tf.evaluation import captioner_evaluation, evaluator
from gcap_tf.metrics import self_retrieval
from gcap_tf.runs import run_folders
from gcap_tf.shipped import folders as shipped_folders

_ROWS = 1024  # Sequences of a step: enough for the matrix products, few enough for the cache.
_BLOCK = 16
_SEED = 5000


@evaluator.CAPTIONERS.register("self_retrieval")
class SelfRetrieval(evaluator.Evaluator[evaluator.CaptionerAnswers]):
  """Ranks pictures by the likelihood that the captioner gives its own captions."""

  def run(self, subject: evaluator.CaptionerAnswers) -> evaluator.Report:
    if not subject.config.self_retrieval:
      return evaluator.Report()
    scores = score(subject.run, subject.split, subject.answers, subject.config.self_retrieval)
    recalls = self_retrieval.recalls(scores)
    text = "\n".join(f"{name} {value:7.2f} %" for name, value in recalls.items())
    statistics = self_retrieval.statistics(scores) if subject.config.statistics else {}
    return evaluator.Report(text, recalls, statistics)


def evaluate(
  run: run_folders.Run,
  split: prepared_data.Split,
  answers: Sequence[captioner_evaluation.Answer],
  pictures: int,
  folder: files.PathLike | None = None,
  rows: int = _ROWS,
) -> dict[str, float]:
  """Recall of the captions' own pictures, in percent; arguments as for `score`."""
  return self_retrieval.recalls(score(run, split, answers, pictures, folder, rows))


def score(
  run: run_folders.Run,
  split: prepared_data.Split,
  answers: Sequence[captioner_evaluation.Answer],
  pictures: int,
  folder: files.PathLike | None = None,
  rows: int = _ROWS,
) -> np.ndarray:
  """ln p of each caption for each picture, [N, N].

  Args:
    run: the captioner.
    split: the pictures.
    answers: a caption of every picture of the split, in order.
    pictures: N, chosen at random (the same for every model); all if there are fewer.
    folder: folder of the scores; None takes the run folder.
    rows: sequences that are scored at once.
  """
  if pictures < 2:
    raise errors.UserError(f"self-retrieval needs 2 pictures or more, not {pictures}")
  chosen = choose(len(split), pictures)
  if len(chosen) < pictures:
    print(f"self-retrieval: {split.name} has {len(chosen)} pictures, fewer than {pictures}")
  tokens = rows_of([answers[n].words for n in chosen], run.vocabulary.ids)
  mark = fingerprint(run.model, split.image_ids[chosen], tokens, split)
  place = pathlib.Path(folder or shipped_folders.work_folder(run.folder)) / "self_retrieval"
  place /= f"{split.data.name}-{split.name}-{len(chosen)}-{mark}"
  return score_all(run, split, chosen, tokens, place, rows)


def choose(count: int, pictures: int) -> np.ndarray:
  """Positions of `pictures` of `count` pictures, in order; the same in every run."""
  order = np.random.default_rng(_SEED).permutation(count)
  return np.sort(order[:pictures])


def rows_of(captions: Sequence[Sequence[str]], ids: dict[str, int]) -> np.ndarray:
  """Captions as padded rows of ids [C, T]; every one has an end."""
  longest = max(map(len, captions), default=0)
  tokens = np.zeros([len(captions), longest + 1], np.int32)
  for n, words in enumerate(captions):
    tokens[n, : len(words)] = [ids[word] for word in words]
  return tokens


def fingerprint(
  model: base.Captioner, image_ids: np.ndarray, tokens: np.ndarray, split: prepared_data.Split
) -> str:
  """Short hash of everything that scores depend on."""
  shards = {name: entry for name, entry in split.data.info["files"].items() if split.name in name}
  return fingerprints.of(
    repr((type(model).__name__, model.config)),
    model.variables,
    "\n".join(map(str, image_ids)),
    [tokens],
    repr(sorted(shards.items())),
  )


def score_all(
  run: run_folders.Run,
  split: prepared_data.Split,
  chosen: np.ndarray,
  tokens: np.ndarray,
  folder: pathlib.Path,
  rows: int = _ROWS,
) -> np.ndarray:
  """ln p of caption j for chosen picture i, [N, C]; blocks on disk are not scored again."""
  order = np.lexsort(tokens.T[::-1])  # Neighbours share beginnings.
  groups = np.array_split(order, -(-len(order) // rows))
  trees = [(group, self_retrieval.CaptionTree.build(tokens[group])) for group in groups]
  together = max(1, rows // max(tree.width for _, tree in trees))
  scorer = self_retrieval.PairScorer(run.model)
  config = batch_plan.BatchConfig(cache_bytes=0)
  maker = batch_maker.BatchMaker(split, run.vocabulary, config, ("regions",))

  found = []
  with progress.bar(label="self-retrieval", total=len(chosen) * len(tokens), unit="pair") as bar:
    for start in range(0, len(chosen), _BLOCK):
      block = chosen[start : start + _BLOCK]
      path = folder / f"pictures-{start:06d}.npy"
      if not path.exists():
        scores = np.empty([len(block), len(tokens)], np.float32)
        for first in range(0, len(block), together):
          part = block[first : first + together]
          batch = _pictures(maker, part)
          for group, tree in trees:
            scores[first : first + len(part), group] = scorer.scores(batch, tree)
        with files.atomic_path(path) as partial, open(partial, "wb") as file:
          np.save(file, scores)
      found.append(np.load(path))
      bar.update(len(block) * len(tokens))
  return np.concatenate(found)


def _pictures(maker: batch_maker.BatchMaker, positions: np.ndarray) -> base.Batch:
  nothing = np.zeros([len(positions), 1], np.int64)
  arrays = maker.make(positions, nothing, np.ones(len(positions), bool), 1)
  return {key: tf.constant(arrays[key]) for key in base.PICTURE_KEYS if key in arrays}
