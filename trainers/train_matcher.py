"""Trains an image-text matcher: SCAN, POS-SCAN, BFAN, PFAN, SGRAF or VSE++.

    python -m trainers.train_matcher --data=data/scenes --model=pos_scan --run=runs/pos_scan
    python -m trainers.train_matcher --data=data/f30k --model=scan --run=runs/scan \
      --ccr_weight=0.1 --ccs_weight=0.1 --set=options.aggregation=log_sum_exp

Run it again with the same flags to go on after a stop. The best weights by validation rsum
are kept. The last line is one JSON object with the last validation figures.
"""

import dataclasses
import json

from absl import flags

from gcap_tf import config as configs
from gcap_tf import errors
from gcap_tf.data import prepared
from gcap_tf.training import matcher_training

_DATA = flags.DEFINE_string("data", None, "Prepared folder.", required=True)
_RUN = flags.DEFINE_string("run", None, "Run folder to write, or to go on with.", required=True)
_MODEL = flags.DEFINE_string("model", "scan", "scan, pos_scan, bfan, pfan, sgraf or vsepp.")
_DIRECTION = flags.DEFINE_enum("direction", None, ["t2i", "i2t"], "Of SCAN and PFAN.")
_CCR = flags.DEFINE_float("ccr_weight", 0.0, "Weight of the CCR constraint; the paper: 0.1 or 1.")
_CCS = flags.DEFINE_float("ccs_weight", 0.0, "Weight of the CCS constraint; the paper: 0.1 or 1.")
_EPOCHS = flags.DEFINE_integer("epochs", None, "Passes over every caption.", 1)
_BATCH = flags.DEFINE_integer("batch_size", None, "Pairs of a step.", 2)
_RATE = flags.DEFINE_float("learning_rate", None, "At the start.")
_SEED = flags.DEFINE_integer("seed", 1, "Of initial weights, order and sampling.")
_SET = flags.DEFINE_multi_string("set", [], "Any option, as key.path=value; see RUN/config.json.")


def configuration() -> matcher_training.MatcherTrainingConfig:
  """The flags as a configuration; `--set` has the last word."""
  config = matcher_training.MatcherTrainingConfig(model=_MODEL.value, seed=_SEED.value)
  constraints = dataclasses.replace(config.losses, ccr_weight=_CCR.value, ccs_weight=_CCS.value)
  config = dataclasses.replace(config, losses=constraints)
  if _DIRECTION.value:
    config = dataclasses.replace(config, options={"direction": _DIRECTION.value})
  if _EPOCHS.value:
    config = dataclasses.replace(config, epochs=_EPOCHS.value)
  if _BATCH.value:
    config = dataclasses.replace(config, batch_size=_BATCH.value)
  if _RATE.value:
    schedule = dataclasses.replace(config.schedule, learning_rate=_RATE.value)
    config = dataclasses.replace(config, schedule=schedule)
  return configs.override(config, _SET.value)


def main(argv: list[str]) -> None:
  del argv
  config = configuration()
  print(json.dumps(configs.to_dict(config), indent=2))
  figures = matcher_training.train(prepared.PreparedData(_DATA.value), config, _RUN.value)
  print(json.dumps(figures))


if __name__ == "__main__":
  errors.run(main)
