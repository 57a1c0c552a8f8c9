"""Tests of gcap_tf/quiet.py: which lines of standard error pass."""
# bazel: data = ["//gcap_tf:quiet", "//trainers:package"]

import subprocess
import sys

NOISE = """WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
I0000 00:00:1794946026.355850   14811 port.cc:153] oneDNN custom operations are on.
I0000 00:00:1794946026.356247   14811 cudart_stub.cc:31] Could not find cuda drivers.
E0000 00:00:1794946030.547445   14811 cuda_platform.cc:52] failed call to cuInit
I0000 00:00:1794946026.459502   14811 cpu_feature_guard.cc:227] This TensorFlow binary is
To enable the following instructions: AVX2, rebuild TensorFlow.
"""


def run(program: str) -> subprocess.CompletedProcess:
  return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_start_up_lines_are_dropped_and_errors_pass():
  done = run(f"""
import os
from gcap_tf import quiet
with quiet.filtered_stderr():
  os.write(2, {NOISE!r}.encode() + b"out of memory\\n")
os.write(2, b"after\\n")
""")
  assert done.stderr == "out of memory\nafter\n"


def test_the_last_words_of_a_crash_pass():
  done = run(f"""
import os
from gcap_tf import quiet
with quiet.filtered_stderr():
  os.write(2, {NOISE!r}.encode() + b"F0000 this machine has no AVX")
  os.abort()
""")
  assert done.returncode != 0
  assert done.stderr == "F0000 this machine has no AVX"


def test_only_the_import_of_tensorflow_is_filtered(tmp_path):
  (tmp_path / "tensorflow.py").write_text(f"import os; os.write(2, {NOISE!r}.encode() + b'bad')")
  done = run(f"""
import os, sys
from gcap_tf import quiet
sys.path.insert(0, {str(tmp_path)!r})
quiet.silence_tensorflow()
import json, tensorflow
os.write(2, b"I0000 00:00:1.5 1 port.cc:153] later")
print(os.environ["TF_CPP_MIN_LOG_LEVEL"], tensorflow.__name__)
""")
  assert done.stderr == "badI0000 00:00:1.5 1 port.cc:153] later"
  assert done.stdout == "3 tensorflow\n"


def test_worker_processes_of_a_quiet_command_are_quiet(tmp_path):
  package = tmp_path / "tensorflow.py"
  package.write_text(f"import os; os.write(2, {NOISE!r}.encode() + b'bad')")
  worker = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import trainers, tensorflow"
  done = run(f"""
import subprocess, sys
from gcap_tf import quiet
quiet.silence_tensorflow()
subprocess.run([sys.executable, "-c", {worker!r}], check=True)
""")
  assert done.stderr == "bad"
