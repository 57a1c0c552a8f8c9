"""Makes certificates for tests."""

import pathlib
import subprocess

import pytest


def make(folder: pathlib.Path, name: str = "") -> tuple[pathlib.Path, pathlib.Path]:
  """(certificate, key) of localhost; skips the test if openssl cannot make them."""
  key, certificate = folder / f"{name}key.pem", folder / f"{name}cert.pem"
  made = subprocess.run(
    [
      *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
      *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
      *("-keyout", key, "-out", certificate),
    ],
    capture_output=True,
    check=False,
  )
  if made.returncode:
    pytest.skip("openssl cannot make a certificate here")
  return certificate, key
