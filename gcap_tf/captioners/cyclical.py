"""Cyclical training (Ma et al., "Learning to Generate Grounded Visual Captions without
Localization Supervision", ECCV 2020, arXiv:1906.00283): decode, localise, reconstruct.

GVD with h2 fed back and a localiser. `reconstruction.py` has the two additional passes of
training; every captioner of `topdown.py` has the option `localizer`. Captions come from the
first pass alone.

The paper's variants: the localiser as an MLP or with h1 (option `localizer`); losses or
representations of nouns and verbs only, and consistency of the two attentions (options of
training).
"""

import dataclasses
from typing import Literal

import keras

from gcap_tf.captioners import base, gvd


@dataclasses.dataclass(frozen=True)
class CyclicalConfig(gvd.GVDConfig):
  """GVD's options, with feedback, shared attention and a localiser."""

  feedback: bool = True
  shared_attention: bool = True
  localizer: Literal["none", "linear", "mlp", "hidden"] = "linear"


@keras.saving.register_keras_serializable(package="gcap_tf")
@base.CAPTIONERS.register("cyclical")
class CyclicalCaptioner(gvd.GVDCaptioner):
  Config = CyclicalConfig
