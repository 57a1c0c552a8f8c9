"""What PyTorch computes with the released formulas of GVD and Cyclical for videos.

    PYTHONPATH=. python -m tests.captioners.video_golden     writes video_golden.json; needs torch

The weights follow from their names, so that the file holds answers alone. The formulas are those of
`benchmarks/peers/video_torch.py`, in evaluation mode.
"""

# bazel: data = ["video_golden.json"]

import json
import pathlib
import zlib

import numpy as np

PATH = pathlib.Path(__file__).with_name("video_golden.json")
SIZES = {"v": 9, "c": 3, "d": 6, "e": 5, "h": 8, "a": 4}
PARTS, PLACE, POSITION = (3, 2), 4, 3


def weight(name: str, shape) -> np.ndarray:
  """The weight of a released name."""
  rng = np.random.default_rng(zlib.crc32(name.encode()))
  if name.endswith("running_var"):
    return rng.uniform(0.5, 2, shape).astype(np.float32)
  return rng.normal(0, 0.5, shape).astype(np.float32)


def arrays() -> dict[str, np.ndarray]:
  """Two segments: 7 regions, the last two of the second padding; 5 and 4 frames of 6."""
  rng = np.random.default_rng(0)
  mask = np.array([[1] * 7, [1] * 5 + [0] * 2], bool)
  place, lengths = np.arange(6), np.array([5, 4])
  frames = rng.normal(size=[2, 6, sum(PARTS)]) * (place < lengths[:, None])[..., None]
  return {
    "features": (rng.normal(size=[2, 7, SIZES["d"]]) * mask[..., None]).astype(np.float32),
    "boxes": np.sort(rng.uniform(size=[2, 7, 4]), 2).astype(np.float32),
    "frame": np.array([[0, 0, 2, 4, 4, 7, 9], [1, 1, 3, 5, 8, 0, 0]], np.float32),
    "region_mask": mask,
    "frames": frames.astype(np.float32),
    "frame_mask": place < lengths[:, None],
    "in_segment": (np.array([[1], [0]]) <= place) & (place < np.array([[3], [4]])),
    "mean": frames.mean(1).astype(np.float32),
    "position": np.array([[0, 3, 0.1, 0.5], [2, 3, 0.4, 1.0]], np.float32),
    "tokens": np.array([[3, 1, 8, 0], [2, 2, 5, 7]]),
    "token_mask": np.ones([2, 4], bool),
  }


def answers(name: str) -> dict[str, list]:
  """Log-probabilities and scores of the regions, by PyTorch."""
  import torch

  from benchmarks.peers import video_torch

  cycle = name == "cyclical"
  model = video_torch.VideoCaptioner(
    **SIZES, parts=PARTS, place=PLACE, position=POSITION, cycle=cycle
  )
  drawn = {
    key: torch.from_numpy(weight(key, tuple(value.shape))) if value.dim() else value
    for key, value in model.state_dict().items()
  }
  model.load_state_dict(drawn)
  model.eval()
  batch = {key: torch.from_numpy(value) for key, value in arrays().items()}
  if cycle:  # Cyclical's program masks nothing.
    batch["region_mask"] = torch.ones_like(batch["region_mask"])
  tokens = batch["tokens"].long()
  with torch.no_grad():
    memory = model.encode(batch)
    log_probs, scores = model.decode(memory, tokens, batch["region_mask"])
    found = {"log_probs": log_probs, "scores": scores, "regions": memory[1], "frames": memory[2]}
    if cycle:
      found["rebuilt"] = model.reconstruct(memory, tokens, log_probs.argmax(2))
  return {key: value.numpy().astype(float).round(7).tolist() for key, value in found.items()}


if __name__ == "__main__":
  PATH.write_text(json.dumps({name: answers(name) for name in ("gvd", "cyclical")}) + "\n")
