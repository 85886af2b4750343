"""Certificates of the server: loaded, checked as a client would, and explained if unusable."""

import ssl
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from model.base.errors import SpinneyError

_NO_CHECK_TIME: Final = 0x200000
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME, which `ssl` does not name: the dates are checked here."""
_MAX_SIZE: Final = 1_000_000
"""Bytes of a file; chains of certificates have a few thousand."""


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """A certificate with its chain and the private key, both in PEM format; `None`: not set."""

    certificate: Path | None
    key: Path | None


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a certificate says."""

    names: tuple[str, ...]
    """The host names and addresses that it is for."""
    valid_from: float
    valid_until: float
    """Seconds since the epoch."""


def load_certificate(
    files: CertificateFiles, now: float | None = None
) -> tuple[ssl.SSLContext, Certificate]:
    """Return the context of a server with this certificate. Reads files.

    Raises `SpinneyError` with a sentence for each reason for which it cannot be used: among them
    the wrong key and an expired certificate.
    """
    context, certificate = read_certificate(files)
    now = time.time() if now is None else now
    if now > certificate.valid_until:
        raise SpinneyError(
            f"The certificate {files.certificate} expired on {_date(certificate.valid_until)}. "
            "Renew it, then start again."
        )
    if now < certificate.valid_from:
        raise SpinneyError(
            f"The certificate {files.certificate} is valid only from "
            f"{_date(certificate.valid_from)}. Check this machine's clock."
        )
    return context, certificate


def read_certificate(files: CertificateFiles) -> tuple[ssl.SSLContext, Certificate]:
    """Like `load_certificate`, but accepts an expired one."""
    if files.certificate is None or files.key is None:
        raise SpinneyError(
            "TLS needs a certificate and its key: set both http_server_certificate and "
            "http_server_key, or neither."
        )
    chain = _read(files.certificate, "certificate")
    if "-----BEGIN CERTIFICATE-----" not in chain:
        raise SpinneyError(f"{files.certificate} contains no certificate in PEM format.")
    if "PRIVATE KEY-----" not in _read(files.key, "key"):
        raise SpinneyError(f"{files.key} contains no private key in PEM format.")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load_chain(context, files.certificate, files.key)
    return context, _parse(_inspect(context, chain, files))


def reload_certificate(context: ssl.SSLContext, files: CertificateFiles) -> Certificate:
    """Load the files again, for the connections that are made from now on.

    Raises `SpinneyError`; the context is unchanged then.
    """
    _, certificate = load_certificate(files)
    assert files.certificate is not None and files.key is not None
    _load_chain(context, files.certificate, files.key)
    return certificate


def _load_chain(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    def refuse_password() -> NoReturn:
        # Otherwise OpenSSL asks for it on the terminal.
        raise SpinneyError(
            f"The key {key} is protected by a passphrase. Use a key without one, readable only "
            "by you."
        )

    try:
        context.load_cert_chain(certificate, key, refuse_password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise SpinneyError(
                f"The key {key} does not belong to the certificate {certificate}."
            ) from None
        raise SpinneyError(
            f"The certificate {certificate} or its key {key} cannot be used: "
            f"{error.reason or error}."
        ) from None
    except OSError as error:
        raise SpinneyError(
            f"The certificate {certificate} cannot be read: {error.strerror}."
        ) from None


def _read(path: Path, what: str) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_SIZE).decode("ascii", "replace")
    except OSError as error:
        raise SpinneyError(f"The {what} {path} cannot be read: {error.strerror}.") from None


def _inspect(server: ssl.SSLContext, chain: str, files: CertificateFiles) -> dict[str, Any]:
    """Return what a client sees of the certificate, from a handshake in memory that trusts it."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | _NO_CHECK_TIME
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        client.load_verify_locations(cadata=chain)
        inner = client.wrap_bio(to_client, to_server)
        outer = server.wrap_bio(to_server, to_client, server_side=True)
        for side in (inner, outer, inner):  # hello, certificate, its verification
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
        return inner.getpeercert() or {}
    except (ssl.SSLError, ValueError) as error:
        raise SpinneyError(
            f"The certificate {files.certificate} cannot be used for a server: {error}."
        ) from None


def _parse(found: dict[str, Any]) -> Certificate:
    names = [str(value) for kind, value in found.get("subjectAltName", ()) if kind != "URI"]
    return Certificate(
        tuple(names),
        float(ssl.cert_time_to_seconds(found["notBefore"])),
        float(ssl.cert_time_to_seconds(found["notAfter"])),
    )


def _date(moment: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(moment))
