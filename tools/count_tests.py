"""Adds up the test reports of one Bazel run, given its build event file.

Prints the slowest targets, why tests were skipped, and as its last line
`N passed, N failed, N skipped`.
"""

import json
import pathlib
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree

SLOWEST = 15


def reports(events: pathlib.Path) -> list[pathlib.Path | None]:
  """Returns the XML report of every test target (and shard) that ran; None if it left none."""
  found: dict[str, pathlib.Path | None] = {}
  for line in events.read_text(encoding="utf-8").splitlines():
    event = json.loads(line)
    if "testResult" not in event:
      continue
    key = json.dumps(event["id"]["testResult"] | {"attempt": 0})
    outputs = event["testResult"].get("testActionOutput", [])
    urls = [output["uri"] for output in outputs if output["name"] == "test.xml"]
    found[key] = pathlib.Path(urllib.parse.urlparse(urls[0]).path) if urls else None
  return list(found.values())


def seconds(events: pathlib.Path) -> dict[str, float]:
  """Target (and shard) -> how long it ran."""
  found: dict[str, float] = {}
  for line in events.read_text(encoding="utf-8").splitlines():
    event = json.loads(line)
    if "testResult" in event:
      place = event["id"]["testResult"]
      name = f"{place['label']} {place.get('shard', '')}".rstrip()
      found[name] = int(event["testResult"].get("testAttemptDurationMillis", 0)) / 1000
  return found


def main(argv: list[str]) -> int:
  events = pathlib.Path(argv[0])
  passed = failed = skipped = 0
  reasons: dict[str, int] = {}
  for report in reports(events) if events.exists() else []:
    try:
      cases = list(ElementTree.parse(report).iter("testcase")) if report else None
    except (ElementTree.ParseError, OSError):
      cases = None
    if cases is None:
      failed += 1  # The test program died before it could write its report.
      continue
    for case in cases:
      if case.find("failure") is not None or case.find("error") is not None:
        failed += 1
      elif (skip := case.find("skipped")) is not None:
        skipped += 1
        reason = skip.get("message", "")
        reasons[reason] = reasons.get(reason, 0) + 1
      else:
        passed += 1
  took = seconds(events) if events.exists() else {}
  for name in sorted(took, key=took.get, reverse=True)[:SLOWEST]:
    print(f"{took[name]:.0f} s: {name}")
  for reason, count in sorted(reasons.items()):
    print(f"skipped {count}: {reason}")
  print(f"{passed} passed, {failed} failed, {skipped} skipped")
  return 0


if __name__ == "__main__":
  sys.exit(main(sys.argv[1:]))
