"""Tests of serving/front/tls.py."""

import pytest

from gcap_tf import errors
from serving.front import tls
from tests.serving import certificates


def test_files_that_are_no_certificate_say_so(tmp_path):
  certificate, key = certificates.make(tmp_path)
  other = certificates.make(tmp_path, "other_")
  text = tmp_path / "text.pem"
  text.write_text("hello")
  cut = tmp_path / "cut.pem"
  cut.write_bytes(certificate.read_bytes()[:200])
  locked = tmp_path / "locked.pem"
  locked.write_text("-----BEGIN ENCRYPTED PRIVATE KEY-----\n")
  tls.check(tls.Tls(certificate, key, other[0]))
  for files, message in (
    ((tmp_path / "none", key), "the certificate .*none cannot be read"),
    ((tmp_path, key), "cannot be read"),
    ((text, key), "text.pem is not a certificate in PEM form"),
    ((key, key), "key.pem is not a certificate in PEM form"),
    ((certificate, text), "text.pem is not a private key in PEM form"),
    ((certificate, certificate), "cert.pem is not a private key in PEM form"),
    ((certificate, other[1]), "does not belong to the certificate"),
    ((cut, key), "cannot be read"),
    ((certificate, locked), "is encrypted"),
    ((certificate, key, text), "text.pem is not a certificate of the clients' authority"),
    ((certificate, key, cut), "cut.pem is not a certificate"),
  ):
    with pytest.raises(errors.UserError, match=message):
      tls.check(tls.Tls(*files))


def test_texts_of_a_configuration_become_files_that_others_cannot_read(tmp_path):
  certificate, key = certificates.make(tmp_path)
  with tls.temporary_folder() as folder:
    place = tmp_path / "out"
    place.mkdir()
    made = tls.write_files(key.read_text(), certificate.read_text(), "", place)
    tls.check(made)
    assert made.client_ca is None and made.key.stat().st_mode & 0o077 == 0
    assert folder
  with pytest.raises(errors.UserError, match="no server_"):
    tls.write_files("", certificate.read_text(), "", place)
