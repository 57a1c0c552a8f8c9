"""The Java libraries that SPICE needs besides those in pycocoevalcap.

CoreNLP with its models, with which SPICE parses, and Nashorn, a script engine that SPICE
needs to write its results and that Java does not include since version 15. They are
fetched once by `python -m gcap_tf.metrics.fetch_spice`.
"""

import dataclasses
import os
import pathlib

from gcap_tf import files

FOLDER_VARIABLE = "GCAP_SPICE"


@dataclasses.dataclass(frozen=True)
class Jar:
  """A library by its Maven coordinates, and the SHA-256 of its file."""

  group: str
  artifact: str
  version: str
  sha256: str
  classifier: str = ""

  @property
  def file_name(self) -> str:
    suffix = f"-{self.classifier}" if self.classifier else ""
    return f"{self.artifact}-{self.version}{suffix}.jar"

  @property
  def coordinates(self) -> str:
    suffix = f":jar:{self.classifier}" if self.classifier else ""
    return f"{self.group}:{self.artifact}:{self.version}{suffix}"

  @property
  def path(self) -> str:
    """Path of the file in any Maven repository."""
    return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.file_name}"


def _asm(artifact: str, sha256: str) -> Jar:
  return Jar("org.ow2.asm", artifact, "7.3.1", sha256)


JARS = (
  Jar(
    "edu.stanford.nlp",
    "stanford-corenlp",
    "3.6.0",
    "d341d5863276f55782c5ef73212222d6b3b48e02ae1951ab6de7618d28b12742",
  ),
  Jar(
    "edu.stanford.nlp",
    "stanford-corenlp",
    "3.6.0",
    "d285157bd7887ee3018094b5dbae092e49088b023361ccdb550ee1daf9b2c9bd",
    "models",
  ),
  Jar(
    "org.openjdk.nashorn",
    "nashorn-core",
    "15.4",
    "6f816e84dfd63a81d4eaa7829c08337bbaff3ec683ff3bf6bbd90d017a00dc6f",
  ),
  _asm("asm", "2f67e11ceec819ebd88ddee5300aba699b1cbab2e20c22e97cf027d3be93959b"),
  _asm("asm-analysis", "46b8a8efd4b94facb5ab4b35afe30ee0546ae7a43d2c64e6def56c2f168fefa5"),
  _asm("asm-commons", "87cd8bb3c6bf6bcbb33fca48060c5065f66ebf6a3d7de9bf18bff51bcf156ebc"),
  _asm("asm-tree", "f91a4a8aa868c5c4665bb4fd134019a91f9f8b9216527fba295e3c8b5422b78b"),
  _asm("asm-util", "182128592742ed4883ac82bf205f137b6bfbe1234c68e6feb13759e75a85b729"),
)


def folder() -> pathlib.Path:
  """Where the libraries are kept: $GCAP_SPICE, else a folder in the user's cache."""
  chosen = os.environ.get(FOLDER_VARIABLE)
  return pathlib.Path(chosen) if chosen else files.cache_folder() / "spice"


def missing(where: pathlib.Path | None = None) -> list[Jar]:
  """The libraries that are not in the folder."""
  where = where or folder()
  return [jar for jar in JARS if not (where / jar.file_name).is_file()]
