import json

import numpy as np
import pytest

from tests.captioners import video_golden


@pytest.mark.parametrize("name", ["gvd", "cyclical"])
def test_the_plain_program_computes_the_golden(name):
  pytest.importorskip("torch")
  golden = json.loads(video_golden.PATH.read_text())[name]
  for key, value in video_golden.answers(name).items():
    np.testing.assert_allclose(value, golden[key], atol=1e-5)
