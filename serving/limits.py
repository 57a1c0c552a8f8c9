"""Limits of the server; a request beyond them is refused at once with a clear code."""

import dataclasses

from gcap_tf import config as configs


@dataclasses.dataclass(frozen=True)
class Limits:
  """Bounds on one request and on all requests together.

  Attributes:
    message_bytes: largest gRPC message and REST body.
    batch: most pictures in one request.
    regions: most regions of a picture.
    elements: most numbers or strings in one tensor.
    string_bytes: longest string in a tensor, besides pictures.
    picture_bytes: largest picture file.
    in_flight: most requests that wait or run; the next one gets UNAVAILABLE.
    connections: most open REST connections.
    json_depth: deepest nesting of a REST body.
    default_deadline: seconds for a request without a deadline.
    max_deadline: longest deadline in seconds; longer ones are shortened to it.
  """

  message_bytes: configs.PositiveInt = 32 << 20
  batch: configs.PositiveInt = 128
  regions: configs.PositiveInt = 512
  elements: configs.PositiveInt = 16 << 20
  string_bytes: configs.PositiveInt = 4096
  picture_bytes: configs.PositiveInt = 20 << 20
  in_flight: configs.PositiveInt = 128
  connections: configs.PositiveInt = 256
  json_depth: configs.PositiveInt = 16
  default_deadline: configs.Positive = 30.0
  max_deadline: configs.Positive = 300.0

  def deadline(self, requested: float | None) -> float:
    """Returns the seconds for a request; gRPC reports centuries for "no deadline"."""
    if requested is None:
      return self.default_deadline
    return min(requested, self.max_deadline)
