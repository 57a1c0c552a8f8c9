"""Reward curves of a self-critical run, with a legend that says what to look for.

One line a logged step goes to metrics.jsonl, curves and legend to TensorBoard (the run
"rewards"). Values are those of one batch: nothing has to be remembered over a stop, and a
resumed run writes the same lines.
"""

import pathlib
from collections.abc import Mapping

import tensorflow as tf

from gcap_tf import files
from gcap_tf.training import loop

LEGEND = """\
How to read the reward curves. Values are means over the captions of one batch, so they are
noisy: smooth them.

- reward_sample: reward of drawn captions. It should rise, fast at first, and level off. If it
  falls from the start the learning rate is too high.
- reward_baseline: what drawn captions are compared with (the greedy caption, or the other
  samples). With a greedy baseline it starts above reward_sample and rises more slowly.
- advantage: reward_sample - reward_baseline. With a greedy baseline it starts NEGATIVE and
  climbs towards 0 from below: that is healthy, not a fault. It staying at 0 from the start means
  that all samples are equal (too little dropout or a temperature too low). With the mean of the
  other samples it is 0 always; look at reward_sample.
- the loss has no meaning of its own: its size is that of the advantage. Do not wait for it to fall.
- reward_cider, reward_matcher, ..: the terms before their weights. One that falls while the sum
  rises is being traded away: raise its weight.
- words: mean length of drawn captions. unfinished: share without an end. Both rising together,
  or words falling to a handful, says that the reward is being gamed.
- val_cider is what counts; it should pass val_cider of step 0 (the start) within an epoch or two.
"""


class RewardCurves:
  """Writes values every `every` steps.

  Args:
    folder: of the run.
    every: steps between lines.
  """

  def __init__(self, folder: files.PathLike, every: int = 20):
    folder = pathlib.Path(folder)
    self._every = every
    self._log = loop.MetricsLog(folder / "metrics.jsonl")
    self._board = tf.summary.create_file_writer(str(folder / "tensorboard" / "rewards"))
    files.write_text(folder / "rewards.md", LEGEND)
    with self._board.as_default(step=0):
      tf.summary.text("how_to_read_the_curves", LEGEND)

  def record(self, step: int, values: Mapping[str, float]) -> None:
    """Takes the values of the 0-based `step`; most steps are not logged."""
    done = step + 1
    if done % self._every:
      return
    self._log.append({"step": done, **values})
    with self._board.as_default(step=done):
      for name, value in values.items():
        tf.summary.scalar(f"rewards/{name}", value)
    self._board.flush()
