"""Tests of trainers/study/server.py."""

import json
import threading
import urllib.error
import urllib.request

import pytest

from gcap_tf import errors
from gcap_tf.evaluation import human_study
from trainers.study import server

ITEMS = [
  human_study.Item(
    f"p/{n}/0",
    "p",
    ("a", "dog"),
    1,
    "dog",
    (0.0, 0.0, 0.5, 0.5),
    (0.5, 0.5, 1.0, 1.0),
    True,
    (1, 2),
  )
  for n in range(2)
]


@pytest.fixture
def address(tmp_path):
  (tmp_path / "p.jpg").write_bytes(b"jpeg")
  study = server.Study(ITEMS, tmp_path / "answers.jsonl", tmp_path)
  running = server.make_server(study, "127.0.0.1", 0)
  thread = threading.Thread(target=running.serve_forever, daemon=True)
  thread.start()
  yield f"http://127.0.0.1:{running.server_address[1]}"
  running.shutdown()
  running.server_close()


def get(address):
  with urllib.request.urlopen(address, timeout=20) as reply:
    return reply.read()


def post(address, value):
  request = urllib.request.Request(f"{address}/answers", json.dumps(value).encode())
  with urllib.request.urlopen(request, timeout=20) as reply:
    return reply.status


def test_a_rater_judges_every_word_once(address, tmp_path):
  assert b"Which region fits" in get(f"{address}/?rater=1")
  items = json.loads(get(f"{address}/items?rater=1"))
  assert [item["key"] for item in items] == ["p/0/0", "p/1/0"]
  assert "first_is_a" not in items[0]
  assert get(f"{address}/pictures/p") == b"jpeg"
  assert post(address, {"item": "p/0/0", "rater": 1, "answer": "A"}) == 200
  assert len(json.loads(get(f"{address}/items?rater=1"))) == 1
  assert len(json.loads(get(f"{address}/items?rater=2"))) == 2
  lines = (tmp_path / "answers.jsonl").read_text().splitlines()
  assert [json.loads(line)["answer"] for line in lines] == ["A"]


@pytest.mark.parametrize(
  "path", ["/items?rater=9", "/items", "/pictures/other", "/pictures/..%2Fp", "/elsewhere"]
)
def test_what_does_not_exist_is_refused(address, path):
  with pytest.raises(urllib.error.HTTPError) as refused:
    get(f"{address}{path}")
  assert refused.value.code in (400, 404)


@pytest.mark.parametrize("value", [{"item": "p/0/0", "rater": 3, "answer": "A"}, [1], "x"])
def test_a_wrong_answer_is_refused_and_not_kept(address, tmp_path, value):
  with pytest.raises(urllib.error.HTTPError) as refused:
    post(address, value)
  assert refused.value.code == 400 and not (tmp_path / "answers.jsonl").exists()


def test_answers_are_found_again_and_a_cut_last_line_is_left_out(tmp_path):
  path = tmp_path / "answers.jsonl"
  path.write_text('{"item": "p/0/0", "rater": 1, "answer": "B"}\n{"item": "p/1')
  assert len(server.read_answers(path)) == 1
  assert [item["key"] for item in server.Study(ITEMS, path, tmp_path).left(1)] == ["p/1/0"]
  path.write_text('{"item"\n{}\n')
  with pytest.raises(errors.UserError, match="line 1: not JSON"):
    server.read_answers(path)
