import pathlib
import re

from gcap_tf.metrics.java_scorers import spice_jars


def test_libraries_have_maven_names():
  models = next(jar for jar in spice_jars.JARS if jar.classifier)
  assert models.file_name == "stanford-corenlp-3.6.0-models.jar"
  assert models.coordinates == "edu.stanford.nlp:stanford-corenlp:3.6.0:jar:models"
  assert models.path == f"edu/stanford/nlp/stanford-corenlp/3.6.0/{models.file_name}"


def test_every_library_has_a_checksum_and_a_name_of_its_own():
  assert all(re.fullmatch("[0-9a-f]{64}", jar.sha256) for jar in spice_jars.JARS)
  assert len({jar.file_name for jar in spice_jars.JARS}) == len(spice_jars.JARS)


def test_the_folder_follows_the_environment(monkeypatch, tmp_path):
  monkeypatch.setenv(spice_jars.FOLDER_VARIABLE, str(tmp_path))
  assert spice_jars.folder() == tmp_path
  monkeypatch.delenv(spice_jars.FOLDER_VARIABLE)
  monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
  assert spice_jars.folder() == tmp_path / "gcap_tf" / "spice"


def test_what_is_missing_is_listed(tmp_path):
  assert spice_jars.missing(tmp_path) == list(spice_jars.JARS)
  first = spice_jars.JARS[0]
  pathlib.Path(tmp_path / first.file_name).write_bytes(b"")
  assert first not in spice_jars.missing(tmp_path)
