import concurrent.futures
import socket

import numpy as np
import pytest
from PIL import Image

from gcap_tf import errors
from serving import grpc_client, limits
from tests.serving import harness, tiny_models, tiny_photographs


@pytest.fixture(scope="module")
def base(tmp_path_factory):
  folder = tmp_path_factory.mktemp("captioner")
  tiny_models.save(folder, 1)
  return folder


@pytest.fixture(scope="module")
def server(base):
  with harness.serving(base) as server:
    yield server


def test_captions_of_pictures_with_different_region_counts(server):
  asked = [tiny_models.request(1, count, seed=count) for count in (4, 0, 2)]
  caller = grpc_client.Client(server.address)
  answers = caller.caption([a["features"][0] for a in asked], [a["boxes"][0] for a in asked])
  caller.close()
  assert [answer.attention.shape for answer in answers] == [(2, 4), (2, 0), (2, 2)]
  strongest = int(asked[0]["features"][0, :, 0].argmax())
  assert answers[0].caption == f"region{strongest} region{strongest}"
  assert answers[0].words == (f"region{strongest}",) * 2
  np.testing.assert_allclose(answers[0].boxes[0], asked[0]["boxes"][0, strongest])
  assert answers[1].box_index.tolist() == [-1, -1]


def test_unequal_boxes_and_features_are_one_clear_error(server):
  with pytest.raises(errors.UserError, match="picture 0 has 2 boxes and 3 rows"):
    grpc_client.Client(server.address).caption([np.zeros((3, 3))], [np.zeros((2, 4))])


def test_a_refusal_is_reported_with_its_code_and_not_retried(server):
  caller = grpc_client.Client(server.address, timeout=20)
  before = server.metrics.requests.value("captioner", "INVALID_ARGUMENT")
  with pytest.raises(errors.UserError, match="INVALID_ARGUMENT: input size does not match"):
    caller.predict({})
  assert server.metrics.requests.value("captioner", "INVALID_ARGUMENT") == before + 1
  with pytest.raises(errors.UserError, match='no signature "sample"; known: beam, greedy'):
    caller.caption([np.zeros((1, 3))], [np.zeros((1, 4))], decode="sample")


def test_retries_until_a_late_server_is_there(base):
  with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
  caller = grpc_client.Client(f"127.0.0.1:{port}", timeout=30)
  with pytest.raises(errors.UserError, match="UNAVAILABLE"):
    grpc_client.Client(f"127.0.0.1:{port}", timeout=0.3).versions()
  with harness.serving(base, port=port):
    assert caller.versions() == {1: "AVAILABLE"}
  caller.close()


def test_retries_while_the_server_is_full(base):
  with harness.serving(base, limits=limits.Limits(in_flight=1)) as server:
    slow = {"seconds_in_tenths": np.array([5], np.int32)}
    callers = [grpc_client.Client(server.address) for _ in range(3)]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
      answers = [pool.submit(c.predict, slow, "sleep") for c in callers]
      assert [a.result()["done"].shape for a in answers] == [(1,)] * 3
    assert server.metrics.refused.value("in_flight") > 0


def test_version_states_are_listed(server):
  assert grpc_client.Client(server.address).versions() == {1: "AVAILABLE"}


def test_wrong_boxes_and_labels_are_refused_before_they_are_sent():
  client = grpc_client.Client("127.0.0.1:1", timeout=0.1)  # there is no server
  good = np.array([[0.1, 0.1, 0.5, 0.5]])
  with pytest.raises(errors.UserError, match="in pixels"):
    client.caption(None, [good * 640], [["dog"]])
  with pytest.raises(errors.UserError, match="inverted"):
    client.caption(None, [good[:, ::-1]], [["dog"]])
  with pytest.raises(errors.UserError, match="outside the picture"):
    client.caption(None, [good + 0.9], [["dog"]])
  with pytest.raises(errors.UserError, match=r"for one picture send \[labels\]"):
    client.caption(None, [good], ["dog"])
  with pytest.raises(errors.UserError, match=r"for one picture send \[boxes\]"):
    client.caption(None, good, ["dog"])
  with pytest.raises(errors.UserError, match="pictures must be a list"):
    client.caption_pictures("photo.jpg")


def test_what_the_model_reads_but_was_not_sent_is_named(server):
  with pytest.raises(errors.UserError, match="model captioner reads features; send them"):
    grpc_client.Client(server.address).caption(None, [np.zeros((1, 4))], [["dog"]])


def test_photographs_of_callers_at_once_are_one_batch(tmp_path):
  tiny_photographs.save(tmp_path / "model")
  pictures = []
  for number in range(4):
    image = Image.new("RGB", (20 + number, 20), (40, 40, 40))
    image.paste((250, 250, 250), (10 * (number % 2), 10 * (number // 2), 20, 20))
    path = tmp_path / f"{number}.png"
    image.save(path)
    pictures.append(path)
  with harness.serving(tmp_path / "model") as server:
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
      clients = [grpc_client.Client(server.address) for _ in range(16)]
      jobs = [pool.submit(c.caption_pictures, [pictures[i % 4]]) for i, c in enumerate(clients)]
      answers = [job.result()[0] for job in jobs]
    batches = server.metrics.batch_rows.count("captioner", "caption_image")
  alone = [answers[number].caption for number in range(4)]
  assert [answer.caption for answer in answers] == alone * 4
  assert [answer.seen.image_size for answer in answers[:4]] == [(20 + n, 20) for n in range(4)]
  assert batches < 16
