import multiprocessing
import os
import signal
import subprocess
import sys
import time

from gcap_tf import worker_processes

PROGRAM = """
import multiprocessing, os, time
from gcap_tf import worker_processes

def work():
  worker_processes.die_with_parent()
  print(os.getpid(), flush=True)
  time.sleep(60)

if __name__ == "__main__":
  child = multiprocessing.get_context("fork").Process(target=work)
  child.start()
  child.join()
"""


def test_threads_are_set_in_the_block_alone(monkeypatch):
  monkeypatch.setenv("OMP_NUM_THREADS", "7")
  monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
  with worker_processes.one_thread_each():
    assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "1"
  assert os.environ["OMP_NUM_THREADS"] == "7" and "MKL_NUM_THREADS" not in os.environ


def test_a_worker_ends_with_its_killed_parent():
  running = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True)
  worker = int(running.stdout.readline())
  running.send_signal(signal.SIGKILL)
  running.wait()
  deadline = time.monotonic() + 20
  while _runs(worker) and time.monotonic() < deadline:
    time.sleep(0.05)
  assert not _runs(worker)
  assert multiprocessing.parent_process() is None  # This process is no worker.


def _runs(process: int) -> bool:
  try:
    with open(f"/proc/{process}/stat") as file:
      return file.read().rpartition(")")[2].split()[0] != "Z"
  except FileNotFoundError:
    return False
