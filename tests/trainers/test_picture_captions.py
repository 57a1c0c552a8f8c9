import json

from gcap_tf import api
from tests.export import picture_captioner
from tests.vision import picture_files
from trainers import picture_captions


def test_a_damaged_file_is_named_and_passed_over(tmp_path, capsys):
  captioner = api.load(picture_captioner.write(tmp_path))
  pictures = tmp_path / "pictures"
  pictures.mkdir()
  for name in ("jpeg", "turned"):
    (pictures / f"{name}.jpg").write_bytes(picture_files.samples()[name])
  (pictures / "bad.jpg").write_bytes(b"hello")
  found, damaged = picture_captions.caption(
    captioner, [str(pictures)], "greedy", str(tmp_path / "drawn")
  )
  assert [answer.image_id for answer in found] == ["jpeg", "turned"] and damaged == 1
  assert f"error: {pictures / 'bad.jpg'}: not a picture" in capsys.readouterr().err
  assert sorted(path.name for path in (tmp_path / "drawn").iterdir()) == ["jpeg.png", "turned.png"]
  picture_captions.write(tmp_path / "out.json", found)
  rows = json.loads((tmp_path / "out.json").read_text())
  wanted = {"image_id", "caption", "words", "box_index", "boxes", "log_prob"}
  assert all(wanted <= set(row) for row in rows)
  text = picture_captions.text(found[0])
  assert text.startswith(f"jpeg: {found[0].caption}")
  assert len(text.splitlines()) == 1 + sum(word.grounded for word in found[0].words)
