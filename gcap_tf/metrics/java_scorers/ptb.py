"""Tokenising as COCO's caption evaluation does, by Java if it is installed.

Stanford's PTBTokenizer splits and lower-cases, then punctuation is dropped. Without Java this
project's tokenizer follows the same rules; the report names the one that ran.
"""

import tempfile
from collections.abc import Sequence

from gcap_tf.metrics.java_scorers import java
from gcap_tf.text import tokenizer

JAVA = "PTBTokenizer (Java)"
OWN = "gcap_tf tokenizer"
# The list of COCO's evaluation. Its brackets are in capitals, so brackets of lower-cased text
# are not dropped; that stays, since scores are compared with published ones.
_PUNCTUATION = frozenset(
  ("''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", *".?!,:-;", "--", "...")
)


def tokenize(texts: Sequence[str], timeout_seconds: float = 600.0) -> tuple[list[str], str]:
  """Splits captions into words with blanks between.

  Returns:
    the captions, and the name of the tokenizer used.
  """
  try:
    return tokenize_java(texts, timeout_seconds), JAVA
  except java.NotComputed as reason:
    return [" ".join(tokenizer.tokenize(text)) for text in texts], f"{OWN} ({reason})"


def tokenize_java(texts: Sequence[str], timeout_seconds: float = 600.0) -> list[str]:
  """Stanford's PTBTokenizer; `java.NotComputed` if it cannot run."""
  runtime = java.find()
  jar = java.scorer_folder("tokenizer") / "stanford-corenlp-3.4.1.jar"
  with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
    # A line break inside a caption would shift every later caption by one.
    file.write("".join(" ".join(text.split()) + "\n" for text in texts))
    file.flush()
    output = java.run(
      runtime.command(
        "1g",
        "-cp",
        str(jar),
        "edu.stanford.nlp.process.PTBTokenizer",
        "-preserveLines",
        "-lowerCase",
        file.name,
      ),
      timeout_seconds,
      "PTBTokenizer",
    )
  lines = output.split("\n")[:-1]
  if len(lines) != len(texts):
    raise java.NotComputed(f"PTBTokenizer gave {len(lines)} lines for {len(texts)} captions")
  return [
    " ".join(word for word in line.split(" ") if word and word not in _PUNCTUATION)
    for line in lines
  ]
