"""One configuration over several seeds: its figures as mean and standard deviation.

RUN/seed_1, RUN/seed_2, ...   a run folder each
RUN/seed_N/figures.json       written when that run has ended: its figures and its options
"""

import pathlib
import re
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from gcap_tf import config as configs
from gcap_tf import errors, files
from gcap_tf.runs import renamed_options

Figures = dict[str, Any]


def train_all(
  train: Callable[[Any, pathlib.Path], Figures],
  config_of: Callable[[int], Any],
  folder: files.PathLike,
  seeds: Sequence[int],
) -> Figures:
  """Trains every seed that is not complete yet; returns `summary` of all.

  Args:
    train: from a configuration and a run folder to its figures; continues a stopped run.
    config_of: the configuration of a seed.
    folder: folder of all the runs.
    seeds: different from each other.
  """
  folder = pathlib.Path(folder)
  if (folder / "config.json").exists():
    raise errors.UserError(f"{folder} holds a run without --seeds; choose another folder for --run")
  if len(set(seeds)) != len(seeds):
    raise errors.UserError(f"--seeds={','.join(map(str, seeds))} names a seed twice")
  found = {}
  for seed in seeds:
    run, config = folder / f"seed_{seed}", config_of(seed)
    found[seed] = _complete(run, config)
    if found[seed] is None:
      print(f"seed {seed}: training {run}", flush=True)
      found[seed] = train(config, run)
      files.write_json(
        run / "figures.json", {"figures": found[seed], "options": configs.to_dict(config)}
      )
    else:
      print(f"seed {seed}: {run} is complete", flush=True)
  return summary(found)


def members(folder: files.PathLike) -> dict[int, pathlib.Path]:
  """Run folders of a folder of seeds, by seed; empty for any other folder."""
  folder = pathlib.Path(folder)
  if (folder / "config.json").exists() or not folder.is_dir():
    return {}
  names = {path: re.fullmatch(r"seed_(\d+)", path.name) for path in folder.iterdir()}
  runs = {int(name[1]): path for path, name in names.items() if name}
  return {seed: runs[seed] for seed in sorted(runs) if (runs[seed] / "config.json").exists()}


def common(folders: Sequence[files.PathLike]) -> list[int]:
  """The seeds that all of several folders have; empty for plain run folders."""
  found = [members(folder) for folder in folders]
  if not any(found):
    return []
  seeds = sorted(set(found[0]).intersection(*found[1:]))
  if not seeds:
    raise errors.UserError(
      f"{', '.join(map(str, folders))}: no seed has a run in all of them; name run folders, or "
      "folders trained with the same --seeds"
    )
  return seeds


def summary(figures: dict[int, Figures]) -> Figures:
  """`seeds`; the mean of every figure that all seeds have, and its deviation as `KEY_std`.

  The deviation is that of a sample (divided by n - 1), 0 for one seed.
  """
  rows = list(figures.values())
  result: Figures = {"seeds": list(figures)}
  for key in rows[0]:
    values = [row.get(key) for row in rows]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
      result[key] = statistics.fmean(values)
      result[f"{key}_std"] = statistics.stdev(values) if len(values) > 1 else 0.0
  return result


def table(found: Figures) -> str:
  """`summary` as a table for people."""
  keys = [key for key in found if f"{key}_std" in found]
  lines = [f"{key:26} {found[key]:10.4f} ± {found[f'{key}_std']:.4f}" for key in keys]
  return "\n".join([f"mean and standard deviation of seeds {found['seeds']}", *lines])


def _complete(run: pathlib.Path, config: Any) -> Figures | None:
  path = run / "figures.json"
  if not path.exists():
    return None
  kept = files.read_json(path, "figures")
  # Options that a new version added count as left at their defaults.
  options = renamed_options.current(kept["options"])
  before = configs.to_dict(configs.from_dict(type(config), options, str(path)))
  wanted = configs.to_dict(config)
  for key in wanted:
    if before[key] != wanted[key]:
      raise errors.UserError(
        f"{run} was trained with {key}={before[key]}, not {wanted[key]}; "
        "choose another folder for --run"
      )
  return kept["figures"]
