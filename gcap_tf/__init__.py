"""Grounded image captioning in TensorFlow: every noun points at its region."""

import os

# TensorFlow turns oneDNN on for some CPUs only; steps are faster with it on the others, too
# (docs/speed.md). TensorFlow reads this when it is imported.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")


def register_keras() -> None:
  """Lets `keras.models.load_model("m.keras")` find every model of this package.

  Keras knows a class only after its module is imported. `import gcap_tf` alone imports no
  model, because TensorFlow takes seconds to import.
  """
  import importlib

  for module in (".captioners.catalog", ".matchers.catalog", ".vision.detector"):
    importlib.import_module(module, __name__)


def load(run="shipped", detector: str = ""):
  """Loads a captioner of photographs: `gcap_tf.load().caption("photo.jpg")`.

  Args:
    run: "shipped", a run folder, a packed run, or the folder of a SavedModel.
    detector: what finds regions, in place of the run's own detector; as
      `trainers.extract_regions --detector`.

  Returns:
    an `api.Captioner`.
  """
  import importlib

  return importlib.import_module(".api", __name__).load(run, detector)


def __getattr__(name: str) -> str:
  """`gcap_tf.__version__`: of pyproject.toml in a clone, else of the installed package."""
  if name != "__version__":
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
  import importlib.metadata
  import pathlib
  import tomllib

  project = pathlib.Path(__file__).resolve().parent.parent / "pyproject.toml"
  if project.exists():
    return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
  return importlib.metadata.version("gcap_tf")
