"""The page beside a packed run: what it is for, what it learned from, what it cannot do."""

import numpy as np

from gcap_tf.runs import card_sections, run_folders

_USES = {
  "captioner": (
    "Writes a caption for the regions of a picture and tells which region each word is about. "
    "Meant for research on grounded captioning, for trying the tools of this package, and as a "
    "start for training on other data (`--start`)."
  ),
  "matcher": (
    "Scores how well a caption fits the regions of a picture, and where each word looks. Meant "
    "for research: as a teacher, as a reward, and for retrieval."
  ),
}
_LABELLED = (
  "It sees no pixels: a region is its box and its label, a word such as a detector gives. What "
  "has no label cannot be known to it, and neither can colours, actions or relations that boxes "
  "and labels do not show: where it names them, it says what such labels usually go with.",
  "It was trained on boxes that people drew and words that people wrote. A detector that misses "
  "things, finds them twice or names them in other words makes its captions worse; the figures "
  "below are for annotated boxes.",
)
_ALWAYS = (
  "It knows the words of its training captions only and repeats their mistakes and biases, such "
  "as what is said of people by their looks.",
  "A caption is a guess, and a box is where the model looked, not proof that the thing is there. "
  "Do not use it where a wrong caption does harm, and not to identify people.",
)


def text(run: run_folders.Run, licence: str = "") -> str:
  """Markdown, from the run's configuration and its `metrics.json`."""
  parameters = sum(int(np.prod(variable.shape)) for variable in run.model.variables)
  labelled = getattr(run.model.config, "num_labels", 0) and not run.model.config.feature_size
  limits = (*(_LABELLED if labelled else ()), *_ALWAYS)
  lines = [
    f"# {run.kind} {run.name}",
    "",
    "## Use",
    "",
    _USES[run.kind],
    "",
    f"- Parameters: {parameters:,}, kept in float16",
    f"- Vocabulary: {run.vocabulary.size:,} words, fingerprint `{run.vocabulary.fingerprint}`",
    f"- Region labels: {len(run.vocabulary.labels):,}",
    f"- Features of a region: {run.model.config.feature_size or 'none'}",
    "",
    "## Limits",
    "",
    *(f"- {limit}" for limit in limits),
    "",
    *card_sections.data(run),
    *card_sections.metrics(run),
    *card_sections.licence(run, licence),
    *card_sections.stages(run.config),
  ]
  return "\n".join(lines)
