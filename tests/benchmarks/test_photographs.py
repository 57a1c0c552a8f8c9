import tensorflow as tf
from tensorflow_serving.apis import predict_pb2

from benchmarks import photographs


def test_a_request_holds_one_picture_for_the_greedy_signature():
  found = predict_pb2.PredictRequest.FromString(photographs.request(b"abc"))
  assert found.model_spec.signature_name == "caption_image"
  assert tf.make_ndarray(found.inputs["image_bytes"]).tolist() == [b"abc"]
