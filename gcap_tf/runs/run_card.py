"""The model card of a packed run: its use, its limits, its data."""

import numpy as np

from gcap_tf.runs import card_sections, run_folders

_USES = {
  "captioner": (
    "Writes a caption for the regions of a picture and names the region of each word. "
    "Meant for research on grounded captioning, for trying the tools of this package, and as a "
    "start for training on other data (`--start`)."
  ),
  "matcher": (
    "Scores how well a caption fits the regions of a picture, and finds the regions of each "
    "word. Meant for research: as a teacher, as a reward, and for retrieval."
  ),
}
_LABELLED = (
  "It sees no pixels: a region is its box and its label, a word that a detector gives. It does "
  "not know things without a label, nor colours, actions or relations that boxes and labels do "
  "not show: if it names them, it repeats what usually goes with such labels.",
  "It was trained on boxes that people drew and words that people wrote. Captions are worse with "
  "a detector that misses things, finds them twice or names them differently; the figures below "
  "are for annotated boxes.",
)
_PHOTOGRAPHS = (
  "It sees what its detector finds: a thing that the detector misses or takes for another is "
  "missing or wrong in the caption.",
  "The detector was trained on annotated boxes and the words of the phrases that point to them, so "
  "its labels are a kind of supervision.",
)
_ALWAYS = (
  "It knows only the words of its training captions and repeats their mistakes and biases, such "
  "as remarks on people's looks.",
  "A caption is a guess, and a box shows where the model looked; it does not prove that the thing "
  "is there. Do not use it if a wrong caption does harm, nor to identify people.",
)


def text(run: run_folders.Run, licence: str = "") -> str:
  """Markdown, from the run's configuration and its `metrics.json`."""
  parameters = sum(int(np.prod(variable.shape)) for variable in run.model.variables)
  labelled = run.model.config.num_labels and not run.model.config.feature_size
  sees = card_sections.sees_photographs(run.config)
  limits = (*(_LABELLED if labelled else _PHOTOGRAPHS if sees else ()), *_ALWAYS)
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
