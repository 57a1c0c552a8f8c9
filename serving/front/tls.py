"""TLS of both ports: reads the PEM files, and says what is wrong with them."""

import dataclasses
import pathlib
import ssl
import tempfile

import grpc

from gcap_tf import errors

_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"
_KEY_ENDING = b" PRIVATE KEY-----"


@dataclasses.dataclass(frozen=True)
class Tls:
  """PEM files for TLS.

  Attributes:
    certificate: certificate of the server.
    key: private key of the server.
    client_ca: if given, clients must send a certificate that it signed.
  """

  certificate: pathlib.Path
  key: pathlib.Path
  client_ca: pathlib.Path | None = None


def check(tls: Tls) -> None:
  """Raises a `UserError` if a file is not what it should be, or if key and certificate differ."""
  _read(tls.certificate, "certificate", _CERTIFICATE)
  key = _read(tls.key, "private key", _KEY_ENDING)
  if b"ENCRYPTED" in key:
    raise errors.UserError(f"the private key {tls.key} is encrypted; give one without a password")
  context(tls)


def context(tls: Tls) -> ssl.SSLContext:
  """For the REST port."""
  made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
  made.minimum_version = ssl.TLSVersion.TLSv1_2
  try:
    made.load_cert_chain(tls.certificate, tls.key)
  except ssl.SSLError as error:
    if "KEY_VALUES_MISMATCH" in str(error):
      raise errors.UserError(
        f"the private key {tls.key} does not belong to the certificate {tls.certificate}"
      ) from None
    raise errors.UserError(
      f"the certificate {tls.certificate} and the private key {tls.key} cannot be read ({error})"
    ) from None
  if tls.client_ca:
    _read(tls.client_ca, "certificate of the clients' authority", _CERTIFICATE)
    try:
      made.load_verify_locations(tls.client_ca)
    except ssl.SSLError as error:
      raise errors.UserError(f"{tls.client_ca} is not a certificate ({error})") from None
    made.verify_mode = ssl.CERT_REQUIRED
  return made


def credentials(tls: Tls) -> grpc.ServerCredentials:
  """For the gRPC port."""
  return grpc.ssl_server_credentials(
    [(tls.key.read_bytes(), tls.certificate.read_bytes())],
    root_certificates=tls.client_ca.read_bytes() if tls.client_ca else None,
    require_client_auth=tls.client_ca is not None,
  )


def write_files(key: str, certificate: str, client_ca: str, folder: pathlib.Path) -> Tls:
  """The PEM texts of an `SSLConfig` as files that only this user can read."""
  paths = {}
  for name, text in (("key", key), ("certificate", certificate), ("client_ca", client_ca)):
    if text:
      path = folder / f"{name}.pem"
      path.touch(0o600)
      path.write_text(text)
      paths[name] = path
  missing = {"key", "certificate"} - paths.keys()
  if missing:
    raise errors.UserError(f"the SSL configuration has no server_{min(missing)[:4]}")
  return Tls(paths["certificate"], paths["key"], paths.get("client_ca"))


def temporary_folder() -> tempfile.TemporaryDirectory:
  """For `write_files`; it and its content end with the program."""
  return tempfile.TemporaryDirectory(prefix="gcap-tls-")


def _read(path: pathlib.Path, what: str, mark: bytes) -> bytes:
  try:
    content = path.read_bytes()
  except OSError as error:
    raise errors.UserError(f"the {what} {path} cannot be read ({error.strerror})") from None
  if mark not in content:
    raise errors.UserError(f"{path} is not a {what} in PEM form")
  return content
