r"""Captions a folder of region features, and says where each word looked.

    python -m trainers.caption --run=runs/updown --regions=features --out=captions.json
    python -m trainers.caption --run=runs/updown --regions=features --decode=beam \
      --beam_size=3 --out=captions.json

`--regions` is any region store: folders `att/ID.npz` (key `feat`), `fc/ID.npy`, `box/ID.npy`;
a bottom-up TSV; SCAN arrays; GVD's HDF5. Writes one row a picture: `image_id, caption,
words, box_index, boxes, log_prob`.
"""

from absl import flags

from gcap_tf import errors, files
from gcap_tf.data import stores
from gcap_tf.decoding import config as decode_config
from gcap_tf.training import captioner_evaluation, region_captioning, runs

_RUN = flags.DEFINE_string("run", None, "Run folder of a captioner.", required=True)
_REGIONS = flags.DEFINE_string("regions", None, "Region store.", required=True)
_OUT = flags.DEFINE_string("out", None, "Where the JSON goes.", required=True)
_DECODE = flags.DEFINE_enum("decode", "greedy", ["greedy", "beam"], "How captions are found.")
_BEAM = flags.DEFINE_integer("beam_size", 3, "Beams of --decode=beam.", 1)
_LENGTH = flags.DEFINE_integer("max_length", 20, "Words of a caption at most.", 1)
_UNKNOWN = flags.DEFINE_enum(
  "unknown",
  None,
  ["allow", "suppress", "second_best"],
  "What becomes of UNK; default: suppressed in beam search; in greedy decoding allowed, "
  "but for GVD and its kin, which take the second best word.",
)


def main(argv: list[str]) -> None:
  del argv
  run = runs.load(_RUN.value, "captioner")
  store = stores.open_store(_REGIONS.value)
  usual = captioner_evaluation.usual_decoding(run.model).unknown
  unknown = _UNKNOWN.value or ("suppress" if _DECODE.value == "beam" else usual)
  config = decode_config.DecodeConfig(
    _DECODE.value, _LENGTH.value, unknown=unknown, beam_size=_BEAM.value
  )
  rows = list(region_captioning.caption_store(run, store, config))
  files.write_json(_OUT.value, rows, indent=1)
  print(f"{len(rows):,} pictures captioned; written to {_OUT.value}")


if __name__ == "__main__":
  errors.run(main)
