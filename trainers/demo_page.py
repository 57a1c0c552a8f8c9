"""Pictures and page of the demos: the captions that a server answered."""

import html
import pathlib
from collections.abc import Sequence

import numpy as np

from gcap_tf import files
from gcap_tf.data import records
from gcap_tf.data.prepared import prepared_data
from gcap_tf.visuals import draw
from serving import client, embedded, samples, versions

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { padding: .3rem .9rem; text-align: right; }
th:first-child, td:first-child { text-align: left; } tr:nth-child(even) { background: #f3f3f3; }
.answers { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: 1rem; }
figure { margin: 0; } img { width: 100%; border: 1px solid #ddd; }
"""


def ask_server(
  model: pathlib.Path, pictures: Sequence[records.Record]
) -> list[client.GroundedCaption]:
  """Starts the embedded server on a free port and captions the pictures over gRPC."""
  config = embedded.ServerConfig(models=(versions.ModelConfig("captioner", model),))
  with embedded.Server(config) as server:
    connection = client.Client(server.address)
    regions = [picture.regions for picture in pictures]
    features = [found.features for found in regions]
    answers = connection.caption(
      None if any(rows is None for rows in features) else features,
      [boxes_01(picture) for picture in pictures],
      [found.labels for found in regions],
    )
    connection.close()
  return answers


def boxes_01(record: records.Record) -> np.ndarray:
  """[R, 4] boxes of a record's regions, from 0 to 1."""
  scale = np.array([record.width, record.height] * 2, np.float32)
  return record.regions.boxes_px / scale


def write(
  folder: pathlib.Path,
  pictures: Sequence[records.Record],
  answers: Sequence[client.GroundedCaption],
  text: str,
  header: Sequence[str],
  table: Sequence[Sequence[str]],
) -> None:
  """Writes `*.png` (one a picture), `attention.png` and `index.html`.

  Args:
    folder: where to write.
    pictures, answers: in the same order.
    text: explanation at the top of the page.
    header, table: scores, the name of each first; an empty table is left out.
  """
  figures = []
  for number, (picture, answer) in enumerate(zip(pictures, answers, strict=True), 1):
    image = draw.grounded_caption(
      picture.picture, answer.words, answer.boxes, answer.grounded, attention=answer.attention
    )
    name = f"scene_{number:02d}.png"
    _save(image, folder / name)
    caption = html.escape(answer.caption)
    figures.append(f'<figure><img src="{name}" alt="{caption}"></figure>')
  first, answer = pictures[0], answers[0]
  grid = draw.attention_grid(first.picture, answer.words, answer.attention, boxes_01(first))
  _save(grid, folder / "attention.png")
  files.write_text(
    folder / "index.html",
    f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Grounded captions</title>
<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>
<body>
<h1>Grounded captions, learned without boxes</h1>
<p>{html.escape(text.strip())}</p>
{_table(header, table)}
<h2>Answers of the server</h2>
<div class="answers">{"".join(figures)}</div>
<h2>Where every word of the first caption looked</h2>
<img src="attention.png" alt="attention of each word of: {html.escape(answers[0].caption)}">
</body></html>
""",
  )


def _table(header: Sequence[str], table: Sequence[Sequence[str]]) -> str:
  if not table:
    return ""
  names = "".join(f"<th>{html.escape(name)}</th>" for name in header)
  rows = "".join(
    "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in table
  )
  return f"<table><tr>{names}</tr>{rows}</table>"


def write_samples(folder: pathlib.Path, data: prepared_data.PreparedData, count: int = 24) -> None:
  """Writes test scenes for the server's own page."""
  split = data.split("test")
  if not (folder / samples.INDEX).exists():
    samples.write(folder, (split.record(n) for n in range(min(count, len(split)))))


def _save(image, path: pathlib.Path) -> None:
  with files.atomic_path(path) as partial:
    image.save(partial, format="PNG")
