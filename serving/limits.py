"""How much the server takes on: everything beyond is refused at once, with a clear code."""

import dataclasses

from gcap_tf import errors


@dataclasses.dataclass(frozen=True)
class Limits:
  """Bounds on one request and on all requests together.

  Attributes:
    message_bytes: largest gRPC message and REST body.
    batch: most pictures in one request.
    regions: most regions of a picture.
    elements: most numbers or strings in one tensor.
    string_bytes: longest string in a tensor.
    in_flight: most requests that are queued or run; the next one gets UNAVAILABLE.
    connections: most open REST connections.
    json_depth: deepest nesting of a REST body.
    default_deadline: seconds a request without a deadline may take.
    max_deadline: seconds beyond which a longer deadline is cut.
  """

  message_bytes: int = 32 << 20
  batch: int = 128
  regions: int = 512
  elements: int = 16 << 20
  string_bytes: int = 4096
  in_flight: int = 128
  connections: int = 256
  json_depth: int = 16
  default_deadline: float = 30.0
  max_deadline: float = 300.0

  def __post_init__(self):
    for field in dataclasses.fields(self):
      if getattr(self, field.name) <= 0:
        raise errors.UserError(
          f"limit {field.name} is {getattr(self, field.name)}; expected a positive number"
        )

  def deadline(self, asked: float | None) -> float:
    """Seconds that a request may take; gRPC reports centuries for "no deadline"."""
    if asked is None:
      return self.default_deadline
    return min(asked, self.max_deadline)
