"""Checks a running server against the contract that clients rely on.

    python -m serving.contract.run --address=HOST:PORT [--rest=HOST:PORT]

prints one line per case; the exit code is 0 if all hold.
"""

from absl import flags

from gcap_tf import errors

FLAGS = flags.FLAGS


def check(address: str, rest: str | None, model: str = "captioner") -> dict[str, str]:
  """Runs every case; returns case name -> "" if it holds, else the reason."""
  from serving.contract import cases, connection

  server = connection.Connection(address, rest, model)
  outcomes = {}
  try:
    for case in cases.CASES:
      try:
        case(server)
        outcomes[case.__name__] = ""
      except Exception as error:  # a case that crashes does not hold
        reason = " ".join(str(error).split())
        outcomes[case.__name__] = f"{type(error).__name__}: {reason}"
  finally:
    server.close()
  return outcomes


def main(argv: list[str]) -> int:
  del argv
  outcomes = check(FLAGS.address, FLAGS.rest, FLAGS.model_name)
  for name, reason in outcomes.items():
    print(f"{'FAILS' if reason else 'holds'}  {name.replace('_', ' ')}  {reason}".rstrip())
  failed = sum(bool(reason) for reason in outcomes.values())
  print(f"{len(outcomes) - failed} of {len(outcomes)} cases hold")
  return 1 if failed else 0


if __name__ == "__main__":
  flags.DEFINE_string("address", None, "HOST:PORT of the gRPC server.", required=True)
  flags.DEFINE_string("rest", None, "HOST:PORT of the REST server; without it REST is not checked.")
  flags.DEFINE_string("model_name", "captioner", "Name of the model.")
  errors.run(main)
