"""Writes the table of counts of docs/reliability.md from the files in docs/reliability.

    python -m benchmarks.reliability.table
    python -m benchmarks.reliability.table --check      exits with 1 if the table is out of date

The table stands between two comment lines of the page. A count is printed as it is, with what
failed.
"""

import dataclasses
import pathlib
from collections.abc import Callable, Iterable

from absl import flags

from benchmarks.reliability import counts as counts_lib
from gcap_tf import errors, files

BEGIN = "<!-- counts: python -m benchmarks.reliability.table -->"
END = "<!-- end of counts -->"
_FAULTS = ("full", "read_only", "slow", "clock")
_TRAINING = ("matcher", "captioner", "scst", "contrastive", "detector")
_BAD_OUTCOMES = ("silent", "crashed")

Counts = counts_lib.Counts


@dataclasses.dataclass(frozen=True)
class Row:
  """A line of the table.

  Attributes:
    what: is counted.
    command: what follows `python -m`, without --counts.
    goal: in words.
    file: of docs/reliability, without .json.
    reached: the counts in words.
  """

  what: str
  command: str
  goal: str
  file: str
  reached: Callable[[Counts], str]

  def line(self, folder: pathlib.Path) -> str:
    counts = Counts(folder / f"{self.file}.json")
    command = f"`python -m {self.command} --counts=docs/reliability/{self.file}.json`"
    return f"| {self.what} | {command} | {self.goal} | {self.reached(counts)} |"


def table(folder: pathlib.Path) -> str:
  head = ["| what | command | goal | reached |", "|---|---|---|---|"]
  return "\n".join([*head, *(row.line(folder) for row in ROWS)])


def update(page: pathlib.Path, folder: pathlib.Path, check: bool = False) -> None:
  """Writes the table into a page; with `check`, a `UserError` if it is out of date."""
  text = page.read_text(encoding="utf-8")
  before, begin, rest = text.partition(BEGIN)
  _, end, after = rest.partition(END)
  if not begin or not end:
    raise errors.UserError(f"{page} has no lines {BEGIN} and {END}: put them around its table")
  wanted = f"{before}{BEGIN}\n{table(folder)}\n{END}{after}"
  if not check:
    files.write_text(page, wanted)
    print(f"written to {page}")
  elif wanted != text:
    raise errors.UserError(
      f"{page} has another table than {folder}: run python -m benchmarks.reliability.table"
    )


def _listed(parts: Iterable[str]) -> str:
  return "; ".join(part for part in parts if part)


def _training_kills(counts: Counts) -> str:
  programs = []
  for name in _TRAINING:
    found = counts.of(name)
    places = f"{found.get('inside_saves', 0):,} inside a save"
    programs.append(f"{name} {found.get('kills', 0):,} ({places})")
  ends = (
    f"final states: {counts.sum('same_bits'):,} the same bits, {counts.sum('other_bits'):,} others"
  )
  return f"{counts.sum('kills'):,}: {', '.join(programs)}; {ends}"


def _corruptions(counts: Counts) -> str:
  total = sum(counts.total(case) for case in counts.all())
  return f"{total:,}, {sum(map(counts.sum, _BAD_OUTCOMES)):,}"


def _requests(*kinds: tuple[str, str]) -> Callable[[Counts], str]:
  """Counts of cases of the server, and how many of them were in a run that did not hold."""

  def reached(counts: Counts) -> str:
    found = [(counts.of(case), unit) for case, unit in kinds]
    held = ", ".join(f"{numbers.get('held', 0):,} {unit}" for numbers, unit in found)
    failed = sum(numbers.get("FAILED", 0) for numbers, _ in found)
    return _listed([held, f"{failed:,} in runs that failed" if failed else "every run held"])

  return reached


def _swaps(counts: Counts) -> str:
  found = counts.of("swaps")
  swaps = found.get("held", 0) + found.get("FAILED", 0)
  return _listed(
    [
      f"{swaps:,} with {found.get('bad_versions', 0):,} damaged ones",
      f"{found.get('requests', 0):,} answers, {found.get('failed', 0):,} failed, "
      f"{found.get('mixed', 0):,} mixed",
      f"p99 over 1.5 times that before in {found.get('slow_rounds', 0):,} of "
      f"{found.get('rounds', 0):,} runs",
    ]
  )


def _export_kills(counts: Counts) -> str:
  found = counts.of("kills")
  kills = found.get("held", 0) + found.get("FAILED", 0)
  return f"{kills:,}, {found.get('broken', 0):,}"


def _answers(counts: Counts) -> str:
  kinds = []
  for kind in ("photographs", "regions"):
    found = counts.of(kind)
    equal = ", ".join(
      f"{name} {found.get(f'{name} equal', 0):,}" for name in ("SavedModel", "server", "Java")
    )
    different = sum(number for name, number in found.items() if name.endswith("DIFFERENT"))
    kinds.append(f"{kind} {found.get('Python', 0):,}: equal {equal}; different {different:,}")
  return _listed(kinds)


def _soak(counts: Counts) -> str:
  found = counts.of("soak")
  requests = found.get("held", 0) + found.get("FAILED", 0)
  steady = counts.of("memory").get("held", 0)
  return (
    f"{requests:,} requests in {found.get('seconds', 0):,} s, "
    f"{found.get('FAILED', 0):,} of them in runs that failed; "
    f"{steady:,} more without photographs, memory flat"
  )


def _overload(counts: Counts) -> str:
  found = counts.of("overload")
  return f"{sum(found.values()):,} requests, {found.get('FAILED', 0):,} in runs that failed"


def _disk_faults(counts: Counts) -> str:
  held = sum(map(counts.sum, _FAULTS))
  failed = sum(counts.sum(f"{fault} FAILED") for fault in _FAULTS)
  names = ", ".join(f"`{name}`" for name in counts.all())
  return f"{held:,} faults held, {failed:,} failed: {names}"


def _reader_inputs(counts: Counts) -> str:
  with_atheris = sum(counts.of(case).get("inputs", 0) for case in counts.all() if "athe" in case)
  return (
    f"{counts.sum('inputs'):,} inputs, {with_atheris:,} of them with atheris; "
    f"{counts.sum('defects'):,} defects that are not mended"
  )


ROWS = (
  Row(
    "SIGKILL during training, also inside saves; the same bits in the end",
    "benchmarks.faults --work=DIR",
    "1,000",
    "training_kills",
    _training_kills,
  ),
  Row(
    "random corruptions of prepared data, checkpoints, runs, packed runs, stores; taken for whole",
    "benchmarks.reliability.corruptions",
    "10,000, 0",
    "corruptions",
    _corruptions,
  ),
  Row(
    "fuzzed gRPC and REST requests, pictures among them; every code right",
    "benchmarks.serving_faults --cases=fuzz,pictures,heads,junk",
    "1,000,000",
    "server",
    _requests(
      ("fuzz", "malformed requests"),
      ("pictures", "pictures"),
      ("heads", "heads"),
      ("junk", "connections of random bytes"),
    ),
  ),
  Row(
    "new versions under load, every fifth one damaged; failed or mixed answers",
    "benchmarks.serving_faults --cases=swaps",
    "1,000, 0",
    "server",
    _swaps,
  ),
  Row(
    "kills during an export; half versions",
    "benchmarks.serving_faults --cases=kills",
    "500, 0",
    "server",
    _export_kills,
  ),
  Row(
    "answers of Python, SavedModel, server and Java: photographs and regions",
    "benchmarks.reliability.answer_parity --pictures=DIR",
    "10,000",
    "answers",
    _answers,
  ),
  Row(
    "10 times overload",
    "benchmarks.serving_faults --cases=overload --seconds=600",
    "10 minutes",
    "server",
    _overload,
  ),
  Row(
    "clients cut mid-request; descriptors, threads, memory left",
    "benchmarks.serving_faults --cases=cut",
    "10,000, none",
    "server",
    _requests(("cut", "clients")),
  ),
  Row(
    "mixed traffic with photographs; errors, slope of memory",
    "benchmarks.serving_faults --cases=soak --soak_seconds=7200",
    "2 hours, 0, 1 MB an hour",
    "server",
    _soak,
  ),
  Row(
    "disk full, read-only, slow, clock jumps during each command",
    "benchmarks.reliability.disk_faults",
    "all commands",
    "disk_faults",
    _disk_faults,
  ),
  Row(
    "inputs of the readers of foreign files, guided by the lines they reach",
    "benchmarks.reliability.reader_fuzz",
    "hours",
    "reader_fuzz",
    _reader_inputs,
  ),
)


def main(argv: list[str]) -> None:
  del argv
  update(pathlib.Path(flags.FLAGS.page), pathlib.Path(flags.FLAGS.folder), flags.FLAGS.check)


if __name__ == "__main__":
  flags.DEFINE_string("page", "docs/reliability.md", "Page to write.")
  flags.DEFINE_string("folder", "docs/reliability", "Folder of counts, NAME.json each.")
  flags.DEFINE_bool("check", False, "Writes nothing; an outdated table is an error.")
  errors.run(main)
