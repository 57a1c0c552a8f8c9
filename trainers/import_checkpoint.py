r"""Turns an official PyTorch checkpoint into a run folder.

    python -m trainers.import_checkpoint --family=scan --weights=scan.npz \
        --options=scan.json --vocab=f30k_precomp_vocab.json --out=runs/scan

The weights are the state dict saved with numpy.savez under its own names; those of
matchers carry the prefix of their part: img_enc., txt_enc., sim_enc. A checkpoint is
written out where PyTorch is at hand:

    state = torch.load("model_best.pth.tar", map_location="cpu")
    parts = zip(("img_enc.", "txt_enc.", "sim_enc."), state["model"])
    numpy.savez("scan.npz", **{p + k: v.numpy() for p, part in parts for k, v in part.items()})
    json.dump(vars(state["opt"]), open("scan.json", "w"), default=str)
"""

import numpy as np
from absl import flags

from gcap_tf import errors
from gcap_tf.interop import imported_runs

_FAMILY = flags.DEFINE_enum(
  "family",
  None,
  imported_runs.FAMILIES,
  "Which program wrote it; scan with the option pos is POS-SCAN.",
  required=True,
)
_WEIGHTS = flags.DEFINE_string("weights", None, "State dict saved with numpy.savez.", required=True)
_OPTIONS = flags.DEFINE_string(
  "options",
  None,
  "JSON of the program's options; missing ones have the program's defaults.",
  required=True,
)
_VOCAB = flags.DEFINE_string(
  "vocab", None, "JSON vocabulary that belongs to the checkpoint.", required=True
)
_OUT = flags.DEFINE_string("out", None, "Run folder to write.", required=True)


def main(argv: list[str]) -> None:
  del argv
  name, model = imported_runs.import_files(
    _FAMILY.value, _WEIGHTS.value, _OPTIONS.value, _VOCAB.value, _OUT.value
  )
  count = sum(int(np.prod(weight.shape)) for weight in model.weights)
  print(f"Wrote {_OUT.value}: {name} with {count:,} weights")


if __name__ == "__main__":
  errors.run(main)
