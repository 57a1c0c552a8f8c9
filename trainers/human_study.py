r"""A study in which people judge the grounding of two captioners, word by word.

    python -m trainers.human_study --first=baseline/given.json --second=cyclical/given.json \
      --names=Baseline,Cyclical --data=data/photographs --split=val --images=125 --raters=10 \
      --out=study
    python -m trainers.human_study --serve --out=study --pictures=PHOTOGRAPHS
    python -m trainers.human_study --summarise --out=study

The first command takes two runs' saved predictions (`evaluate_captioner --save_grounding`, or
`--save_given` for the words of the split's own captions; `reproduce` keeps both in each run
folder) and writes STUDY/study.json. The second serves the page to raters 1, 2, .. at
http://localhost:8600/?rater=1; every picture goes to two of them, A and B are in random order, and
answers are kept in STUDY/answers.jsonl. The third prints which captioner is better how often, and
how far raters agree; its last line is one JSON object.
"""

import dataclasses
import json
import pathlib

from absl import flags

from gcap_tf import errors, files

_FIRST = flags.DEFINE_string("first", "", "Saved predictions of the first captioner.")
_SECOND = flags.DEFINE_string("second", "", "Saved predictions of the second captioner.")
_NAMES = flags.DEFINE_list("names", ["First", "Second"], "Their names in the summary.")
_DATA = flags.DEFINE_string("data", None, "Prepared folder of the predictions.")
_SPLIT = flags.DEFINE_string("split", "val", "Its split.")
_IMAGES = flags.DEFINE_integer("images", 125, "Pictures to judge, at random; 0: all.", 0)
_RATERS = flags.DEFINE_integer("raters", 10, "People who judge; each picture goes to two.", 2)
_SEED = flags.DEFINE_integer("seed", 1, "Seed of pictures and order.")
_OUT = flags.DEFINE_string("out", None, "Folder of the study.", required=True)
_PICTURES = flags.DEFINE_string("pictures", "", "Folder of the photographs, ID.jpg each.")
_SERVE = flags.DEFINE_bool("serve", False, "Serves the page until it is stopped.")
_SUMMARISE = flags.DEFINE_bool("summarise", False, "Prints what the answers say.")
_HOST = flags.DEFINE_string("host", "127.0.0.1", "Address to serve at.")
_PORT = flags.DEFINE_integer("port", 8600, "Port to serve at; 0: a free one.", 0, 65535)


def main(argv: list[str]) -> None:
  del argv
  out = pathlib.Path(_OUT.value)
  if _SERVE.value:
    serve(out)
  elif _SUMMARISE.value:
    summarise(out)
  else:
    make(out)


def make(out: pathlib.Path) -> None:
  """Writes study.json; refuses to replace a study that has answers."""
  from gcap_tf.data.prepared import prepared_data
  from gcap_tf.evaluation import human_study
  from gcap_tf.metrics import results_io

  if not (_FIRST.value and _SECOND.value):
    raise errors.UserError("give --first and --second, the saved predictions to compare")
  errors.require(_DATA)
  if len(_NAMES.value) != 2:
    raise errors.UserError(f"--names={','.join(_NAMES.value)}: give two names")
  if (out / "answers.jsonl").exists():
    raise errors.UserError(f"{out} has answers already; name another --out")
  split = prepared_data.PreparedData(_DATA.value).split(_SPLIT.value)
  found = (split.record(position) for position in range(len(split)))
  pictures = {
    record.image_id: human_study.Picture(
      record.width, record.height, tuple(caption.tokens for caption in record.captions)
    )
    for record in found
    if record.width and record.height
  }
  items = human_study.make_items(
    results_io.read_submission(_FIRST.value),
    results_io.read_submission(_SECOND.value),
    pictures,
    _IMAGES.value,
    _RATERS.value,
    _SEED.value,
  )
  study = {"names": _NAMES.value, "items": [dataclasses.asdict(item) for item in items]}
  files.write_json(out / "study.json", study)
  images = len({item.image_id for item in items})
  print(
    f"{out / 'study.json'}: {len(items):,} words of {images:,} pictures, {_RATERS.value} raters"
  )


def read(out: pathlib.Path):
  """The names and the items of a study."""
  from gcap_tf import config as configs
  from gcap_tf.evaluation import human_study

  study = files.read_json(out / "study.json", "study")
  items = [configs.from_dict(human_study.Item, item, "item") for item in study["items"]]
  return tuple(study["names"]), items


def serve(out: pathlib.Path) -> None:
  """Serves the study until it is interrupted."""
  from trainers.study import server

  if not pathlib.Path(_PICTURES.value or "?").is_dir():
    raise errors.UserError(f"--pictures={_PICTURES.value}: name the folder of the photographs")
  _, items = read(out)
  study = server.Study(items, out / "answers.jsonl", pathlib.Path(_PICTURES.value))
  running = server.make_server(study, _HOST.value, _PORT.value)
  host, port = running.server_address[:2]
  print(f"raters open http://{host}:{port}/?rater=NUMBER; stop with Ctrl-C", flush=True)
  try:
    running.serve_forever()
  except KeyboardInterrupt:
    print("stopped")
  finally:
    running.server_close()


def summarise(out: pathlib.Path) -> None:
  """Prints the table and the agreement, and the same as one JSON object."""
  from gcap_tf.evaluation import human_study
  from trainers.study import server

  names, items = read(out)
  found = human_study.summarise(items, server.read_answers(out / "answers.jsonl"), names)
  print(found.text())
  print(json.dumps(dataclasses.asdict(found)))


if __name__ == "__main__":
  errors.run(main)
