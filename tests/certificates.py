"""Certificates for tests, made by openssl."""

import shutil
import subprocess
from pathlib import Path

import pytest

from model.service.certificates import CertificateFiles


def make_certificate(
    folder: Path, *, days: int = 30, names: str = "DNS:box.test,DNS:localhost,IP:127.0.0.1"
) -> CertificateFiles:
    """Make a self-signed certificate and its key in the folder, replacing those that are there."""
    openssl = shutil.which("openssl") or pytest.skip("needs openssl")
    folder.mkdir(parents=True, exist_ok=True)
    files = CertificateFiles(folder / "certificate.pem", folder / "key.pem")
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    made = ["-keyout", str(files.key), "-out", str(files.certificate), "-days", str(days)]
    subject = ["-subj", "/CN=Spinney test", "-addext", f"subjectAltName={names}"]
    command = [openssl, "req", "-x509", "-config", "/dev/null", *curve, *made, *subject]
    subprocess.run(command, check=True, capture_output=True)
    return files
