"""Cyclical training (Ma et al., "Learning to Generate Grounded Visual Captions without
Localization Supervision", ECCV 2020, arXiv:1906.00283): decode, localise, reconstruct.

GVD with h2 fed back and a localiser. The two further passes of training are
`TopDownCaptioner.reconstruct`; their losses are terms of `training/methods/captioning.py`, which
any captioner of `topdown.py` takes through its option `localizer`. Captions are written
by the first pass alone.

The paper's variants: the localiser as an MLP or with h1 (`localizer`), losses or
representations of nouns and verbs only, consistency of the two attentions (all three
options of the training).
"""

import dataclasses
from typing import Literal

import keras

from gcap_tf.captioners import base, gvd


@dataclasses.dataclass(frozen=True)
class CyclicalConfig(gvd.GVDConfig):
  feedback: bool = True
  shared_attention: bool = True
  localizer: Literal["none", "linear", "mlp", "hidden"] = "linear"


@keras.saving.register_keras_serializable(package="gcap_tf")
@base.CAPTIONERS.register("cyclical")
class CyclicalCaptioner(gvd.GVDCaptioner):
  Config = CyclicalConfig
