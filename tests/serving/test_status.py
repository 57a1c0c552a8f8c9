import grpc
import pytest

from serving import status


@pytest.mark.parametrize(
  ("error", "code", "http"),
  [
    (status.invalid("x"), grpc.StatusCode.INVALID_ARGUMENT, 400),
    (status.not_found("x"), grpc.StatusCode.NOT_FOUND, 404),
    (status.failed_precondition("x"), grpc.StatusCode.FAILED_PRECONDITION, 412),
    (status.unavailable("x"), grpc.StatusCode.UNAVAILABLE, 503),
    (status.deadline_exceeded("x"), grpc.StatusCode.DEADLINE_EXCEEDED, 504),
    (status.internal("x"), grpc.StatusCode.INTERNAL, 500),
  ],
)
def test_codes_match_on_both_sides(error, code, http):
  assert (error.code, error.http_status, error.message) == (code, http, "x")


def test_long_messages_are_cut():
  assert len(status.invalid("x" * 5000).message) == 1024


def test_code_numbers_are_those_of_the_protocol():
  assert status.code_number(grpc.StatusCode.INVALID_ARGUMENT) == 3
  assert status.code_number(grpc.StatusCode.NOT_FOUND) == 5
