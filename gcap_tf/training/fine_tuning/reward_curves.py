"""How to read reward curves: a text for TensorBoard and RUN/rewards.md."""

LEGEND = """\
How to read the reward curves (`training/reward_...`). Values are means over the captions of one
batch, so they are noisy: smooth them.

- reward_sample: reward of sampled captions. It should rise, fast at first, and level off. If it
  falls from the start the learning rate is too high.
- reward_baseline: what sampled captions are compared with (the greedy caption, or the other
  samples). With a greedy baseline it starts above reward_sample and rises more slowly.
- advantage: reward_sample - reward_baseline. With a greedy baseline it starts NEGATIVE and
  climbs towards 0 from below: that is healthy, not a fault. If it stays at 0 from the start, all
  samples are equal (too little dropout or a temperature too low). With the mean of the other
  samples it is always 0; look at reward_sample.
- the loss has no meaning of its own: its size is that of the advantage. Do not wait for it to fall.
- reward_cider, reward_matcher, ..: the terms before their weights. One that falls while the sum
  rises is being traded away: raise its weight.
- words: mean length of sampled captions. unfinished: share without an end. Both rising together,
  or words falling to a handful, means that the reward is being gamed.
- val_cider is what counts; it should pass val_cider of step 0 (the start) within an epoch or two.
"""
