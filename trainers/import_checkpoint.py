r"""Turns an official PyTorch checkpoint into a run folder.

    python -m trainers.import_checkpoint --family=scan --weights=scan.npz \
        --options=scan.json --vocab=f30k_precomp_vocab.json --out=runs/scan

The weights are the state dict saved with numpy.savez under its own names; those of
matchers have the prefix of their part: img_enc., txt_enc., sim_enc. On a machine with
PyTorch, write a checkpoint out as follows:

    state = torch.load("model_best.pth.tar", map_location="cpu")
    parts = zip(("img_enc.", "txt_enc.", "sim_enc."), state["model"])
    numpy.savez("scan.npz", **{p + k: v.numpy() for p, part in parts for k, v in part.items()})
    json.dump(vars(state["opt"]), open("scan.json", "w"), default=str)
"""

from absl import flags

from gcap_tf import errors

_FAMILY = flags.DEFINE_enum(
  "family",
  None,
  ["scan", "bfan", "pfan", "sgraf", "updown"],
  "Which program wrote it; scan with the option pos is POS-SCAN.",
  required=True,
)
_WEIGHTS = flags.DEFINE_string("weights", None, "State dict saved with numpy.savez.", required=True)
_OPTIONS = flags.DEFINE_string(
  "options",
  None,
  "JSON of the program's options; the program's defaults stand for missing ones.",
  required=True,
)
_VOCAB = flags.DEFINE_string(
  "vocab", None, "JSON vocabulary that belongs to the checkpoint.", required=True
)
_OUT = flags.DEFINE_string("out", None, "Run folder to write.", required=True)


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.interop import imported_runs

  name, model = imported_runs.import_files(
    _FAMILY.value, _WEIGHTS.value, _OPTIONS.value, _VOCAB.value, _OUT.value
  )
  print(f"Wrote {_OUT.value}: {name} with {model.count_params():,} weights")


if __name__ == "__main__":
  errors.run(main)
