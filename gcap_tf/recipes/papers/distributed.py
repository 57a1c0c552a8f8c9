"""Distributed Attention for Grounded Image Captioning (ACM MM 2021).

Tables 2 and 3: the number of branches K, with and without the elimination of regions that
earlier branches picked; multi-head attention instead of branches; and the share of
"partial grounding" (Table 4). On the test split.
"""

import dataclasses

from gcap_tf.recipes import captioners, experiments, scales

_COLUMNS = (
  *experiments.CAPTION_COLUMNS,
  experiments.Column("error_partial", "Partial", 100.0),
)
_KEYS = tuple(column.key for column in _COLUMNS)
# B@4, CIDEr, SPICE, F1_all, F1_loc by K.
_ELIMINATING = {
  2: (26.5, 60.9, 16.6, 5.2, 15.90),
  3: (27.0, 61.6, 16.7, 6.78, 20.10),
  4: (27.2, 62.5, 16.5, 7.91, 21.54, 2.03),
  5: (26.6, 62.4, 16.7, 7.62, 20.45),
}
_KEEPING = {
  2: (27.0, 61.1, 16.5, 5.48, 15.80),
  3: (27.1, 61.85, 16.41, 5.48, 16.14),
  4: (26.8, 61.5, 16.6, 6.82, 18.91),
  5: (26.8, 61.4, 16.3, 6.27, 17.36),
}


def table(scale: scales.Scale) -> experiments.Table:
  def row(name: str, label: str, printed: tuple[float, ...], **options) -> experiments.Row:
    training = dataclasses.replace(captioners.DISTRIBUTED_TRAINING, options=options)
    if options["branches"] == 1:
      training = dataclasses.replace(training, first_stage_epochs=0)
    printed_by_key = dict(zip(_KEYS, printed, strict=False))
    return experiments.Row(name, label, scales.captioner(training, scale), printed_by_key)

  single = row("k1", "K = 1", (), branches=1)
  rows = [dataclasses.replace(single, printed={"error_partial": 7.94})]
  rows += [
    row(f"k{count}", f"K = {count}", printed, branches=count)
    for count, printed in _ELIMINATING.items()
  ]
  rows += [
    row(
      f"k{count}_keep",
      f"K = {count}, no elimination",
      printed,
      branches=count,
      elimination=False,
    )
    for count, printed in _KEEPING.items()
  ]
  rows.append(row("k4_heads", "multi-head attention, 4 heads", (), branches=1, heads=4))
  return experiments.Table("distributed", "test", _COLUMNS, tuple(rows), _CLAIMS)


_CLAIMS = (
  experiments.Claim("k4", "k1", "f1_loc"),
  experiments.Claim("k4", "k1", "error_partial", lower=True),
  experiments.Claim("k4", "k4_keep", "f1_loc"),
  experiments.Claim("k4", "k4_heads", "f1_loc"),
)
