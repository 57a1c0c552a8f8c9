"""Packages that only some commands need, imported where they are used.

Captioning and serving work without them; `pip install gcap_tf[train]` brings those of
data preparation, training and evaluation, `gcap_tf[beam]` brings Apache Beam.
"""

import importlib
import types

from gcap_tf import errors


def require(module: str, extra: str) -> types.ModuleType:
  """Imports a module; if its package is missing, a `UserError` names the extra that has it.

  Args:
    module: "spacy", "pycocoevalcap.bleu.bleu".
    extra: the extra of pyproject.toml that installs the package.
  """
  package = module.partition(".")[0]
  try:
    return importlib.import_module(module)
  except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != package:
      raise
    raise errors.UserError(f"{package} is not installed: pip install gcap_tf[{extra}]") from None
