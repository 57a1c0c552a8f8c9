"""METEOR 1.5 (Denkowski and Lavie, WMT 2014), by its Java program, within a time limit.

Equals pycocoevalcap's METEOR. Range: 0 to 1.
"""

import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence

from gcap_tf.metrics.java_scorers import java


def meteor(
  references: Mapping[str, Sequence[str]],
  captions: Mapping[str, str],
  heap: str = "2g",
  timeout_seconds: float = 1800.0,
) -> tuple[float, dict[str, float]]:
  """METEOR of the whole set and of each caption, from 0 to 1.

  Args:
    references: id -> tokenised references.
    captions: id -> tokenised caption; all of them have references.
    heap: memory for Java.
    timeout_seconds: the program is stopped after this time.

  Raises:
    java.NotComputed: Java is missing, failed or was too slow.
  """
  jar = java.scorer_folder("meteor") / "meteor-1.5.jar"
  command = java.find().command(heap, "-jar", str(jar), "-", "-", "-stdio", "-l", "en", "-norm")
  with tempfile.TemporaryFile() as complaints:
    process = subprocess.Popen(
      command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, encoding="utf-8"
    )
    late = threading.Event()

    def end() -> None:
      late.set()
      process.kill()

    timer = threading.Timer(timeout_seconds, end)
    timer.start()
    try:
      statistics = [
        _send(process, " ||| ".join(["SCORE", *references[image], _plain(caption)]))
        for image, caption in captions.items()
      ]
      first = _send(process, " ||| ".join(["EVAL", *statistics]))
      values = [float(first)] + [float(_receive(process)) for _ in captions]
    except (BrokenPipeError, ValueError):
      if late.is_set():
        raise java.NotComputed(f"METEOR took longer than {timeout_seconds:g} s") from None
      process.kill()
      process.wait()
      complaints.seek(0)
      reason = java.complaint(complaints.read().decode("utf-8", "replace"))
      raise java.NotComputed(f"METEOR stopped: {reason}") from None
    finally:
      timer.cancel()
      process.kill()
      process.communicate()
  return values[-1], dict(zip(captions, values[:-1], strict=True))


def _plain(text: str) -> str:
  """The caption without bars and double blanks, which are syntax of the program's protocol."""
  return text.replace("|||", "").replace("  ", " ")


def _send(process: subprocess.Popen, line: str) -> str:
  process.stdin.write(line + "\n")
  process.stdin.flush()
  return _receive(process)


def _receive(process: subprocess.Popen) -> str:
  line = process.stdout.readline()
  if not line:
    raise BrokenPipeError
  return line.strip()
