"""A client of a captioning server, for Python and the command line.

    python -m serving.client --detections=dog.json --picture=dog.jpg --out=dog_caption.png

prints the caption with the box of every noun, and draws both on the picture.
In Python:

    captions = client.Client("127.0.0.1:8500").caption(features, boxes)

The library is in `serving/grpc_client.py`; it is imported at its first use, so that `--help`
does not wait for TensorFlow.
"""

import dataclasses
import pathlib
from typing import TYPE_CHECKING, Any

from absl import flags

from gcap_tf import errors, files

if TYPE_CHECKING:
  from serving import region_files

FLAGS = flags.FLAGS


def __getattr__(name: str) -> Any:
  """`Client` and the other names of `grpc_client`."""
  from serving import grpc_client

  return getattr(grpc_client, name)


def _define_flags() -> None:
  flags.DEFINE_string("server", "127.0.0.1:8500", "HOST:PORT of the gRPC server.")
  flags.DEFINE_string("model_name", "captioner", "Name of the model.")
  flags.DEFINE_string("detections", None, "JSON file with the picture's regions.")
  flags.DEFINE_string("regions", None, "Folder with att/ID.npz and box/ID.npy.")
  flags.DEFINE_string("data", None, "Prepared folder to read a record from.")
  flags.DEFINE_string("split", "test", "Split of --data.")
  flags.DEFINE_string("image_id", "", "Which picture of --detections, --regions or --data.")
  flags.DEFINE_string("picture", None, "Picture file, to draw on and to scale boxes by.")
  flags.DEFINE_enum("decode", "greedy", ["greedy", "beam"], "How words are chosen.")
  flags.DEFINE_string("out", None, "File for the annotated picture (.png or .jpg).")
  flags.DEFINE_string("json", None, "File for the answer as JSON.")
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


def main(argv: list[str]) -> None:
  del argv
  if sum(map(bool, (FLAGS.detections, FLAGS.regions, FLAGS.data))) != 1:
    raise errors.UserError("give one of --detections=FILE, --regions=DIR and --data=DIR")
  from serving import grpc_client

  regions = _regions_from_flags()
  token = pathlib.Path(FLAGS.token_file).read_text().strip() if FLAGS.token_file else ""
  client = grpc_client.Client(
    FLAGS.server, model=FLAGS.model_name, token=token, tls_ca=FLAGS.tls_ca, timeout=FLAGS.timeout
  )
  (answer,) = client.caption(
    None if regions.features is None else [regions.features],
    [regions.boxes],
    None if regions.labels is None else [regions.labels],
    FLAGS.decode,
  )
  print(answer.caption)
  for word, box, grounded in zip(answer.words, answer.boxes, answer.grounded, strict=True):
    if grounded:
      print(f"  {word:16} {' '.join(f'{x:.3f}' for x in box)}")
  if FLAGS.json:
    files.write_json(FLAGS.json, answer.to_json())
  if FLAGS.out:
    grpc_client.write_picture(answer, regions, FLAGS.out)


if __name__ == "__main__":
  _define_flags()
  errors.run(main)
