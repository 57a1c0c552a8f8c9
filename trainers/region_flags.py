"""Flags that take regions from a captioner, or give them the names of another detector."""

from absl import flags

_DROP = flags.DEFINE_float(
  "drop_regions", 0.0, "Share of the regions that the captioner does not see.", 0.0, 1.0
)
_MOST = flags.DEFINE_integer(
  "max_regions", 0, "Shows the captioner only 1 to N regions of a picture; 0 shows all.", 0
)
_NAMES = flags.DEFINE_enum(
  "label_names",
  "own",
  ["own", "coco"],
  "Whose names the regions have: coco shows the captioner only things that a detector of COCO's "
  "80 classes sees, under its names.",
)


def change(run, split):
  """What `run` sees instead of each batch of `split`; None if the flags change nothing."""
  from gcap_tf.data.prepared import feature_layout, region_noise

  noise = region_noise.RegionNoise(
    foreign=float(_NAMES.value == "coco"),
    few=float(_MOST.value > 0),
    few_most=_MOST.value or 1,
    drop=_DROP.value,
  )
  return feature_layout.changer(split.data, run.vocabulary, noise)
