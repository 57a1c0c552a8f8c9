"""A client of a captioning server, for Python and the command line.

    python -m serving.client --pictures=photo.jpg,holidays --json=captions.json --draw=annotated

captions photographs, prints their captions with the box of every noun, and draws them.

    python -m serving.client --detections=dog.json --picture=dog.jpg --out=dog_caption.png

captions a picture by its regions. In Python:

    captions = client.Client("127.0.0.1:8500").caption_pictures(["photo.jpg"])
    captions = client.Client("127.0.0.1:8500").caption(features, boxes)

The library is in `serving/grpc_client.py`. Neither imports TensorFlow.
"""

import dataclasses
import pathlib
import sys
from typing import TYPE_CHECKING, Any

from absl import flags

from gcap_tf import errors, files

if TYPE_CHECKING:
  from serving import grpc_client, region_files
  from serving.wire import answers

FLAGS = flags.FLAGS
_PICTURES_PER_REQUEST = 8


def __getattr__(name: str) -> Any:
  """`Client` and the other names of `grpc_client`."""
  from serving import grpc_client

  return getattr(grpc_client, name)


def _define_flags() -> None:
  flags.DEFINE_string("server", "127.0.0.1:8500", "HOST:PORT of the gRPC server.")
  flags.DEFINE_string("model_name", "captioner", "Name of the model.")
  flags.DEFINE_list("pictures", None, "Photographs to caption: files and folders.")
  flags.DEFINE_string("draw", None, "Folder for the annotated photographs of --pictures.")
  flags.DEFINE_string("detections", None, "JSON file with the picture's regions.")
  flags.DEFINE_string("regions", None, "Folder with att/ID.npz and box/ID.npy.")
  flags.DEFINE_string("data", None, "Prepared folder to read a record from.")
  flags.DEFINE_string("split", "test", "Split of --data.")
  flags.DEFINE_string("image_id", "", "Which picture of --detections, --regions or --data.")
  flags.DEFINE_string("picture", None, "Picture file, to draw on and to scale boxes by.")
  flags.DEFINE_enum("decode", "greedy", ["greedy", "beam"], "How words are chosen.")
  flags.DEFINE_float("threshold", 0.5, "Least probability of a box that is shown.", 0.0, 1.0)
  flags.DEFINE_string("out", None, "File for the annotated picture (.png or .jpg).")
  flags.DEFINE_string("json", None, "File for the answer as JSON; a list for --pictures.")
  flags.DEFINE_string("token_file", None, "File with the server's token.")
  flags.DEFINE_string("tls_ca", None, "PEM file to check the server's certificate; turns TLS on.")
  flags.DEFINE_float("timeout", 30.0, "Seconds to wait, including retries.", 0.001)


def _regions_from_flags() -> "region_files.PictureRegions":
  from PIL import Image

  from serving import region_files

  if FLAGS.data:
    return region_files.from_prepared(FLAGS.data, FLAGS.split, FLAGS.image_id)
  size = Image.open(FLAGS.picture).size if FLAGS.picture else None
  if FLAGS.detections:
    name = pathlib.Path(FLAGS.picture or "").name
    found = region_files.from_detections(FLAGS.detections, FLAGS.image_id, size, name)
  else:
    found = region_files.from_folder(FLAGS.regions, FLAGS.image_id, size)
  picture = pathlib.Path(FLAGS.picture).read_bytes() if FLAGS.picture else b""
  return dataclasses.replace(found, picture=picture)


def main(argv: list[str]) -> int:
  del argv
  if sum(map(bool, (FLAGS.pictures, FLAGS.detections, FLAGS.regions, FLAGS.data))) != 1:
    raise errors.UserError(
      "give one of --pictures=FILES, --detections=FILE, --regions=DIR and --data=DIR"
    )
  from serving import grpc_client

  token = pathlib.Path(FLAGS.token_file).read_text().strip() if FLAGS.token_file else ""
  client = grpc_client.Client(
    FLAGS.server, model=FLAGS.model_name, token=token, tls_ca=FLAGS.tls_ca, timeout=FLAGS.timeout
  )
  return _caption_pictures(client) if FLAGS.pictures else _caption_regions(client)


def _caption_regions(client: "grpc_client.Client") -> int:
  from serving.wire import answer_pictures

  regions = _regions_from_flags()
  (answer,) = client.caption(
    None if regions.features is None else [regions.features],
    [regions.boxes],
    None if regions.labels is None else [regions.labels],
    FLAGS.decode,
  )
  _print(answer)
  if FLAGS.json:
    files.write_json(FLAGS.json, answer.to_json())
  if FLAGS.out:
    drawn = answer_pictures.drawing(
      answer, regions.picture or None, regions.boxes, regions.labels or (), FLAGS.threshold
    )
    answer_pictures.write(drawn, FLAGS.out)
  return 0


def _caption_pictures(client: "grpc_client.Client") -> int:
  """Captions photographs a few at a time; a damaged file is named and left out."""
  from serving.wire import picture_files

  paths = picture_files.find(FLAGS.pictures)
  if FLAGS.out and len(paths) > 1:
    raise errors.UserError(f"--out is one file, but there are {len(paths)} pictures: use --draw")
  rows, damaged, chunk = [], 0, []
  for number, path in enumerate(paths, 1):
    try:
      chunk.append((path, picture_files.read(path)))
    except errors.UserError as error:
      print(f"error: {error}", file=sys.stderr)
      damaged += 1
    if chunk and (len(chunk) == _PICTURES_PER_REQUEST or number == len(paths)):
      found = client.caption_pictures([data for _, data in chunk], FLAGS.decode)
      for (file, data), answer in zip(chunk, found, strict=True):
        damaged += not _keep(file, data, answer, len(paths) > 1)
        rows.append({"file": str(file), **answer.to_json()})
      chunk = []
  if FLAGS.json:
    files.write_json(FLAGS.json, rows)
  return 1 if damaged else 0


def _keep(path: pathlib.Path, data: bytes, answer: "answers.GroundedCaption", named: bool) -> bool:
  """Prints and draws one answer; returns False if the server could not read the picture."""
  from serving.wire import answer_pictures, picture_files

  if answer.error:
    print(f"error: {path}: {answer.error}", file=sys.stderr)
    return False
  _print(answer, f"{path}: " if named else "")
  targets = [FLAGS.out] if FLAGS.out else []
  if FLAGS.draw:
    targets.append(pathlib.Path(FLAGS.draw) / f"{path.stem}.png")
  if targets:
    drawn = answer_pictures.drawing(
      answer, picture_files.upright(data, str(path)), threshold=FLAGS.threshold
    )
  for target in targets:
    answer_pictures.write(drawn, target)
  return True


def _print(answer: "answers.GroundedCaption", before: str = "") -> None:
  """Prints the caption, then every noun with its box and the probability that it is right."""
  if answer.unknown_labels:
    print(f"unknown labels: {', '.join(answer.unknown_labels)}", file=sys.stderr)
  if not answer.answered:
    print(f"{before}(no caption: the model knows nothing in this picture)")
    return
  print(f"{before}{answer.caption}")
  shown = answer.pointing(FLAGS.threshold)
  for index, word in enumerate(answer.words):
    if answer.grounded[index]:
      box = " ".join(f"{x:.3f}" for x in answer.boxes[index])
      sure = "" if answer.word_scores is None else f"  {100 * answer.word_scores[index]:.0f} %"
      print(f"  {word:16} {box if shown[index] else 'not sure where it is':23}{sure}".rstrip())


if __name__ == "__main__":
  _define_flags()
  errors.run(main)
