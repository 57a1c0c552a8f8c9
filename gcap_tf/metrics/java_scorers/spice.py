"""SPICE (Anderson et al., ECCV 2016, arXiv:1607.08822) by its Java program.

Departure from pycocoevalcap's wrapper: libraries are outside the installed package,
nothing is written into it, Java 9 and newer get the flags that SPICE needs, memory and
time are limited. There is no cache of parses: its native code does not load everywhere.

Equals pycocoevalcap's SPICE. Range: 0 to 1.
"""

import json
import os
import pathlib
import tempfile
from collections.abc import Mapping, Sequence

import numpy as np

from gcap_tf import commands
from gcap_tf.metrics.java_scorers import java, spice_jars


def spice(
  references: Mapping[str, Sequence[str]],
  captions: Mapping[str, str],
  heap: str = "4g",
  timeout_seconds: float = 3600.0,
) -> tuple[float, dict[str, float]]:
  """Mean SPICE (F-score over propositions) and that of each caption, from 0 to 1.

  Args:
    references: id -> references.
    captions: id -> caption; all of them have references.
    heap: memory for Java.
    timeout_seconds: the program is stopped after this time.

  Raises:
    java.NotComputed: Java or a library is missing, failed or was too slow.
  """
  runtime = java.find()
  absent = spice_jars.missing()
  if absent:
    raise java.NotComputed(
      f"SPICE lacks {absent[0].file_name} in {spice_jars.folder()}; "
      f"run {commands.command('fetch_spice')} once"
    )
  home = java.scorer_folder("spice")
  places = (home / "spice-1.0.jar", home / "lib" / "*", spice_jars.folder() / "*")
  with tempfile.TemporaryDirectory() as scratch:
    request, response = pathlib.Path(scratch) / "in.json", pathlib.Path(scratch) / "out.json"
    rows = [
      {"image_id": image, "test": caption, "refs": list(references[image])}
      for image, caption in captions.items()
    ]
    request.write_text(json.dumps(rows), encoding="utf-8")
    command = runtime.command(
      heap,
      f"-Djava.io.tmpdir={scratch}",
      *("-cp", os.pathsep.join(map(str, places))),
      "edu.anu.spice.SpiceScorer",
      *(str(request), "-out", str(response), "-subset", "-silent"),
    )
    java.run(command, timeout_seconds, "SPICE")
    try:
      results = json.loads(response.read_text(encoding="utf-8"))
    except (OSError, ValueError):
      raise java.NotComputed("SPICE wrote no results") from None
  each = {row["image_id"]: float(row["scores"]["All"]["f"] or 0.0) for row in results}
  if each.keys() != captions.keys():
    raise java.NotComputed(f"SPICE scored {len(each)} of {len(captions)} captions")
  return float(np.mean(list(each.values()))), each
