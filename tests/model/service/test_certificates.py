"""Certificates: what is read of them, and a sentence for each that cannot be used."""

import subprocess
import time
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.service.certificates import CertificateFiles, load_certificate
from tests.certificates import make_certificate

DAY = 86400.0


def test_names_and_dates_of_a_certificate_are_read(tmp_path: Path) -> None:
    _, certificate = load_certificate(make_certificate(tmp_path, days=30))
    assert certificate.names == ("box.test", "localhost", "127.0.0.1")
    assert certificate.valid_until - certificate.valid_from == 30 * DAY


def test_an_expired_certificate_and_one_of_the_future_are_refused(tmp_path: Path) -> None:
    files = make_certificate(tmp_path, days=2)
    with pytest.raises(SpinneyError, match=r"expired on \d{4}-\d\d-\d\d\. Renew it"):
        load_certificate(files, time.time() + 3 * DAY)
    with pytest.raises(SpinneyError, match=r"valid only from .* Check this machine's clock"):
        load_certificate(files, time.time() - DAY)


def test_unusable_files_are_each_explained(tmp_path: Path) -> None:
    good, other = make_certificate(tmp_path / "a"), make_certificate(tmp_path / "b")
    assert good.certificate and good.key
    locked, broken = tmp_path / "locked.pem", tmp_path / "broken.pem"
    encrypt = ["openssl", "ec", "-in", good.key, "-out", locked, "-aes128", "-passout", "pass:abcd"]
    subprocess.run(encrypt, check=True, capture_output=True)
    broken.write_text("-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n")
    for certificate, key, sentence in (
        (good.certificate, other.key, "does not belong to the certificate"),
        (tmp_path / "missing", good.key, "cannot be read: No such file"),
        (good.key, good.key, "contains no certificate in PEM format"),
        (good.certificate, good.certificate, "contains no private key in PEM format"),
        (good.certificate, locked, "is protected by a passphrase"),
        (broken, good.key, "cannot be used"),
        (good.certificate, None, "set both http_server_certificate and http_server_key"),
        (tmp_path, good.key, "cannot be read: Is a directory"),
    ):
        with pytest.raises(SpinneyError, match=sentence):
            load_certificate(CertificateFiles(certificate, key))
