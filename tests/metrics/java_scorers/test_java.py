import shutil

import pytest

from gcap_tf.metrics.java_scorers import java

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="no java on the PATH")


def test_without_java_the_reason_names_what_to_install(monkeypatch):
  monkeypatch.setenv("PATH", "")
  with pytest.raises(java.NotComputed, match="install a Java runtime"):
    java.find()


@needs_java
def test_the_runtime_knows_its_version_and_runs():
  runtime = java.find()
  assert runtime.version >= 8
  java.run(runtime.command("64m", "-version"), 60, "java")
  with pytest.raises(java.NotComputed, match=r"Example ended with code 1: .*NoSuchClass"):
    java.run(runtime.command("64m", "NoSuchClass"), 60, "Example")


def test_only_java_nine_and_newer_get_packages_to_open():
  assert not any("add-opens" in part for part in java.Java("java", 8).command("1g", "X"))
  command = java.Java("java", 17).command("1g", "X")
  assert "--add-opens=java.base/java.lang=ALL-UNNAMED" in command
  assert command[:2] == ["java", "-Xmx1g"] and command[-1] == "X"


def test_slow_and_absent_programs_are_reasons_not_failures():
  with pytest.raises(java.NotComputed, match=r"Sleep took longer than 0.2 s"):
    java.run(["sleep", "30"], 0.2, "Sleep")
  with pytest.raises(java.NotComputed, match="Nothing did not start"):
    java.run(["/no/such/program"], 1, "Nothing")


def test_complaints_prefer_the_line_with_the_error():
  said = "[main] INFO loading\nException in thread main: Out of memory\n\tat x.y(Z:1)\n"
  assert java.complaint(said) == "Exception in thread main: Out of memory"
  assert java.complaint("") == "no message"
