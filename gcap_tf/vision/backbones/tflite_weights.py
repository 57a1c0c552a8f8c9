"""The convolutions of a TFLite file as float arrays, such as those of EfficientDet-Lite.

EfficientDet-Lite (Tan, Pang and Le, CVPR 2020, arXiv:1911.09070) has learned boxes of COCO on an
EfficientNet-Lite; its file begins with the convolutions of that backbone, in order, with batch
normalisation folded in. Whole-number weights q stand for

    w = scale (q - zero)        one scale and zero for each output channel

The file is parsed, never run.
"""

import math

import numpy as np
from tensorflow.lite.python import schema_py_generated as schema

from gcap_tf import errors, files

_TYPES = {
  schema.TensorType.FLOAT32: np.float32,
  schema.TensorType.FLOAT16: np.float16,
  schema.TensorType.INT8: np.int8,
  schema.TensorType.UINT8: np.uint8,
  schema.TensorType.INT32: np.int32,
}
_CONVOLUTIONS = (
  schema.BuiltinOperator.CONV_2D,
  schema.BuiltinOperator.DEPTHWISE_CONV_2D,
)


def read(path: files.PathLike, most: int) -> list[tuple[np.ndarray, np.ndarray]]:
  """(kernel [h, w, in, out], bias [out]) of the first convolutions, in the order of the file.

  A depthwise kernel is [h, w, channels, 1], as Keras has it.

  Args:
    path: of the file.
    most: number of convolutions to read.

  Raises:
    UserError: the file is not a whole TFLite model, or has fewer convolutions.
  """
  try:
    with open(path, "rb") as file:
      content = file.read()
    found = _convolutions(content, most)
  except FileNotFoundError:
    raise errors.UserError(f"backbone weights {path} do not exist") from None
  except OSError:
    raise
  except Exception as error:  # A damaged file makes the parser raise whatever it meets.
    raise errors.UserError(
      f"backbone weights {path} are not a whole TFLite model ({error})"
    ) from None
  if len(found) < most:
    raise errors.UserError(
      f"backbone weights {path} have {len(found)} convolutions; this backbone has {most}"
    )
  return found


def _convolutions(content: bytes, most: int) -> list[tuple[np.ndarray, np.ndarray]]:
  if content[4:8] != b"TFL3":
    raise ValueError("it does not begin as one")
  model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(content, 0))
  graph, found = model.subgraphs[0], []
  for operator in graph.operators:
    code = model.operatorCodes[operator.opcodeIndex]
    if max(code.builtinCode, code.deprecatedBuiltinCode) in _CONVOLUTIONS:
      _, kernel, bias = (graph.tensors[index] for index in operator.inputs)
      # TFLite: [out, h, w, in], depthwise [1, h, w, channels].
      found.append((_values(model, kernel).transpose(1, 2, 3, 0), _values(model, bias)))
    if len(found) == most:
      break
  return found


def _values(model: schema.ModelT, tensor: schema.TensorT) -> np.ndarray:
  """The numbers of a constant tensor in float32."""
  shape = tuple(int(side) for side in tensor.shape)
  buffer = np.asarray(model.buffers[tensor.buffer].data, np.uint8).tobytes()
  values = np.frombuffer(buffer, _TYPES[tensor.type], math.prod(shape)).reshape(shape)
  values, quantised = values.astype(np.float32), tensor.quantization
  if quantised is None or quantised.scale is None:
    return values
  along = [1] * len(shape)
  along[quantised.quantizedDimension] = -1
  scale, zero = (
    np.asarray(numbers, np.float32).reshape(along if len(numbers) > 1 else [1] * len(shape))
    for numbers in (quantised.scale, quantised.zeroPoint)
  )
  return scale * (values - zero)
