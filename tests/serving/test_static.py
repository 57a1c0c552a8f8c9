import pytest

from serving import static, status


@pytest.fixture
def files(tmp_path):
  (tmp_path / "samples").mkdir()
  (tmp_path / "samples" / "samples.json").write_text("[1]")
  (tmp_path / "secret").write_text("x")
  (tmp_path / "samples" / "link").symlink_to(tmp_path / "secret")
  return static.StaticFiles(tmp_path / "samples")


def test_page_is_served_at_the_root(files):
  kind, content = files.read("/")
  assert kind == "text/html; charset=utf-8"
  assert b"<html" in content


def test_samples_come_from_the_given_folder(files):
  assert files.read("/samples/samples.json") == ("application/json", b"[1]")
  assert static.StaticFiles().read("/samples/samples.json") == ("application/json", b"[]")


@pytest.mark.parametrize(
  "path",
  [
    "/samples/../secret",
    "/samples/link",
    "/samples/",
    "/samples",
    "/samples//secret",
    "/page/../static.py",
    "/page/%2e%2e/static.py",
    "/page/..\\static.py",
    "/page/\0",
    "/etc/passwd",
    "",
  ],
)
def test_nothing_outside_the_folders_is_served(files, path):
  with pytest.raises(status.ServingError) as error:
    files.read(path)
  assert error.value.http_status == 404
