"""Options of the captioners with two LSTMs and an attention between them (`topdown.py`)."""

import dataclasses
from typing import Literal

from gcap_tf import config as configs
from gcap_tf.captioners import base


@dataclasses.dataclass(frozen=True)
class TopDownConfig(base.CaptionerConfig):
  """Options shared by the family.

  Attributes:
    embedding_size: E.
    hidden_size: H of both LSTMs and of an encoded region.
    attention_size: A.
    dropout: rate at words, picture and output.
    output_layers: linear layers between h2 and the words; all but the last H wide with ReLU.
    feedback: LSTM1 sees h2 of the step before (Up-Down; not GVD).
    branches: K, branches of the attention.
    elimination: a branch cannot see the regions that earlier branches picked.
    heads: above 1, the one branch is a multi-head attention (`branches.join_heads`).
    streams: h2 of the branches: one each, that of the first branch, or the mean.
    query: h1 of the attention's query: of this step, or (Distributed's Eq. 2) of the last.
    localizer: how a word points at regions in `reconstruct`: not at all; through a linear
      map; through an MLP; or through a linear map of the word and h1.
    naming: attended regions raise the score of the word of their label (`layers/naming.py`).
    soft_names: with naming, a region names all labels of its distribution, as far as each is
      likely, in place of its best label alone; its features must hold that distribution.
    label_words: with naming, the word of each region label, unknown first, or with soft_names
      the word of each column of the distribution; training fills it in from the vocabulary.
    label_columns: with soft_names, the first column of the distribution in a feature and one
      past the last; training fills it in from the data.
  """

  embedding_size: configs.PositiveInt = 512
  hidden_size: configs.PositiveInt = 512
  attention_size: configs.PositiveInt = 512
  dropout: configs.Fraction = 0.5
  output_layers: configs.PositiveInt = 1
  feedback: bool = True
  branches: configs.PositiveInt = 1
  elimination: bool = True
  heads: configs.PositiveInt = 1
  streams: Literal["independent", "first", "mean"] = "independent"
  query: Literal["current", "previous"] = "current"
  localizer: Literal["none", "linear", "mlp", "hidden"] = "none"
  naming: bool = False
  soft_names: bool = False
  label_words: tuple[configs.Count, ...] = ()
  label_columns: tuple[configs.Count, ...] = ()
