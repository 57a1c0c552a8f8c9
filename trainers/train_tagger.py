r"""Trains the tagger and the table of lemmas of gcap_tf/text/english_tagger.

    python -m trainers.train_tagger --ewt=UD_English-EWT --entities=flickr30k_entities \
        --hand_tags=tests/text/hand_tags.json --out=gcap_tf/text/english_tagger

Without --entities only the treebank is used. Takes about three minutes of one core.
"""

import json
import time

from absl import flags

from gcap_tf import errors, files, printing

_EWT = flags.DEFINE_string(
  "ewt", None, "Folder of UD English EWT (*-ud-train.conllu[.xz]).", required=True
)
_ENTITIES = flags.DEFINE_string("entities", None, "Folder of Flickr30k Entities, if any.")
_HAND_TAGS = flags.DEFINE_string(
  "hand_tags", None, "Captions tagged by hand: held out of training, and scored."
)
_OUT = flags.DEFINE_string("out", None, "Folder to write.", required=True)
_EPOCHS = flags.DEFINE_integer("epochs", None, "Training epochs.", 1)
_WIDTH = flags.DEFINE_integer("width", None, "Width of the network.", 1)
_DEPTH = flags.DEFINE_integer("depth", None, "Convolution layers.", 1)


def main(argv: list[str]) -> None:
  del argv
  from gcap_tf.text import tagging
  from trainers.tagger import conllu, lemma_table, tagged, tagger_scores, tagger_training

  given = {"epochs": _EPOCHS.value, "width": _WIDTH.value, "depth": _DEPTH.value}
  config = tagger_training.TaggerConfig(**{k: v for k, v in given.items() if v is not None})
  train_path, dev_path = (conllu.find(_EWT.value, part) for part in ("train", "dev"))
  treebank = tagged.treebank(train_path)
  dev = tagged.treebank(dev_path)
  held_out = tagged.held_out_pictures(_HAND_TAGS.value) if _HAND_TAGS.value else set()
  weak = tagged.weakly_tagged(_ENTITIES.value, treebank, held_out) if _ENTITIES.value else []
  sentences = printing.count(len(treebank), "treebank sentence")
  print(f"Training on {sentences} and {printing.count(len(weak), 'caption')}")
  start = time.monotonic()

  def report(epoch: int, pipeline) -> None:
    score = tagger_scores.accuracy(tagging.Tagger("trained", pipeline), dev)
    print(
      f"epoch {epoch + 1} of {config.epochs}: {score:.2%} of dev right, "
      f"{time.monotonic() - start:.0f} s",
      flush=True,
    )

  pipeline = tagger_training.train(
    config, [*treebank, *tagged.treebank_as_captions(train_path)], weak, report
  )
  tagger_training.save(pipeline, _OUT.value)
  rows = lemma_table.exceptions(lemma_table.majority(conllu.read(train_path)))
  lemma_table.write(rows, f"{_OUT.value}/lemmas.tsv")
  scores = _scores(dev, tagged.treebank_as_captions(dev_path))
  files.write_json(f"{_OUT.value}/accuracy.json", scores)
  print(json.dumps(scores))


def _scores(dev, spelt) -> dict[str, object]:
  """Accuracy on the treebank, as printed and as captions, and on captions tagged by hand."""
  from gcap_tf.text import tagging
  from trainers.tagger import tagged, tagger_scores

  tagger = tagging.load_tagger(_OUT.value)
  scores: dict[str, object] = {
    "ewt_dev_accuracy": round(tagger_scores.accuracy(tagger, dev), 4),
    "ewt_dev_as_captions_accuracy": round(tagger_scores.accuracy(tagger, spelt), 4),
  }
  if _HAND_TAGS.value and _ENTITIES.value:
    captions = tagged.hand_tagged(_HAND_TAGS.value, _ENTITIES.value)
    nouns = tagger_scores.noun_scores(tagger, captions)
    scores["captions"] = len(captions)
    scores["captions_accuracy"] = round(tagger_scores.accuracy(tagger, captions), 4)
    scores.update({f"captions_noun_{name}": round(value, 4) for name, value in nouns.items()})
  return scores


if __name__ == "__main__":
  errors.run(main)
