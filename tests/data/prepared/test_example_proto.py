# bazel: data = ["//gcap_tf/data/prepared:batch_maker", "//gcap_tf/data/prepared:prepared_data"]

import subprocess
import sys

import tensorflow as tf

from gcap_tf.data.prepared import example_proto


def _filled(example):
  feature = example.features.feature
  feature["text"].bytes_list.value.extend([b"a", b"", "é".encode()])
  feature["numbers"].int64_list.value.extend([-1, 0, 2**62])
  feature["floats"].float_list.value.extend([0.5, -2.0])
  feature["nothing"].bytes_list.SetInParent()
  return example


def test_tensorflow_reads_what_we_write():
  data = _filled(example_proto.Example()).SerializeToString()
  assert tf.train.Example.FromString(data) == _filled(tf.train.Example())


def test_we_read_what_tensorflow_writes():
  data = _filled(tf.train.Example()).SerializeToString()
  assert example_proto.Example.FromString(data) == _filled(example_proto.Example())


def test_it_does_not_import_tensorflow():
  program = (
    "import sys; from gcap_tf.data.prepared import batch_maker, prepared_data, prepared_writer; "
    "sys.exit('tensorflow' in sys.modules)"
  )
  assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
