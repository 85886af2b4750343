"""The cryptography of Web Push: encryption (RFC 8291) and the sender's signature (RFC 8292).

Needs the package `cryptography`, which is optional: `spinney[push]`.
"""

import base64
import json
import os
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_RECORD_SIZE: Final = 4096
_VALID: Final = 12 * 3600
"""Seconds for which a signature is valid; services allow a day."""
_SUBJECT: Final = "mailto:spinney@example.org"
"""Whom a push service may contact; every signature needs one, and none is read in practice."""


def encode(data: bytes) -> str:
    """Return URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """Decode URL-safe base64 with or without padding. Raises `ValueError`."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass(frozen=True, slots=True)
class PushKey:
    """The key by which push services recognize this Spinney."""

    private: ec.EllipticCurvePrivateKey

    @classmethod
    def generate(cls) -> "PushKey":
        """Make a new key."""
        return cls(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def from_text(cls, text: str) -> "PushKey":
        """Read what `to_text` wrote. Raises `ValueError`."""
        number = int.from_bytes(decode(text))
        return cls(ec.derive_private_key(number, ec.SECP256R1()))

    def to_text(self) -> str:
        """Return the secret key as text."""
        return encode(self.private.private_numbers().private_value.to_bytes(32))

    @property
    def public(self) -> str:
        """The public key, as browsers take it."""
        return encode(_to_bytes(self.private.public_key()))

    def sign(self, endpoint: str, now: float) -> str:
        """Return the `Authorization` header for a request to a push service."""
        parts = urlsplit(endpoint)
        claims = {
            "aud": f"{parts.scheme}://{parts.netloc}",
            "exp": int(now) + _VALID,
            "sub": _SUBJECT,
        }
        head = {"typ": "JWT", "alg": "ES256"}
        signed = ".".join(encode(json.dumps(part).encode()) for part in (head, claims))
        signature = self.private.sign(signed.encode(), ec.ECDSA(hashes.SHA256()))
        r, s = decode_dss_signature(signature)
        token = f"{signed}.{encode(r.to_bytes(32) + s.to_bytes(32))}"
        return f"vapid t={token}, k={self.public}"


def encrypt(
    text: bytes,
    p256dh: bytes,
    auth: bytes,
    *,
    sender: ec.EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
) -> bytes:
    """Encrypt a message for a subscription with these keys. Raises `ValueError` for wrong keys.

    `sender` and `salt` are random except in tests.
    """
    sender = sender or ec.generate_private_key(ec.SECP256R1())
    salt = salt or os.urandom(16)
    receiver = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), p256dh)
    public = _to_bytes(sender.public_key())
    shared = sender.exchange(ec.ECDH(), receiver)
    secret = _derive(shared, auth, b"WebPush: info\0" + p256dh + public, 32)
    key = _derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\0", 12)
    head = salt + _RECORD_SIZE.to_bytes(4) + len(public).to_bytes(1) + public
    return head + AESGCM(key).encrypt(nonce, text + b"\x02", None)


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length, salt, info).derive(secret)


def _to_bytes(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
    )
