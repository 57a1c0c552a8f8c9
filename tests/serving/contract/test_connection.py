import numpy as np
import tensorflow as tf

from serving.contract import connection
from tests.serving import harness, tiny_models


def test_requests_have_the_sizes_that_the_model_takes(tmp_path):
  tiny_models.save(tmp_path, 1)
  with harness.serving(tmp_path) as server:
    found = connection.Connection(server.address, server.rest_address, "captioner")
    assert found.input_specs["features"] == (tf.float32, [-1, -1, tiny_models.FEATURES])
    assert found.max_length == tiny_models.STEPS
    inputs = found.inputs(2, 4)
    assert {k: v.shape for k, v in inputs.items()} == {
      "boxes": (2, 4, 4),
      "num_regions": (2,),
      "features": (2, 4, tiny_models.FEATURES),
    }
    assert np.isfinite(found.predict(inputs)["log_prob"]).all()
    assert found.code(found.request({})) == "INVALID_ARGUMENT"
    assert found.rest("/v1/models/captioner")[0] == 200
    found.close()
