"""Web Push against a push service on this machine that decrypts what it gets."""

import json
import stat
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from model.base.errors import SpinneyError
from model.notices.channels.push import PushChannel
from model.notices.outgoing import DeliveryError
from model.notices.push_crypto import PushKey, decode, encode, encrypt
from model.notices.push_subscriptions import PushSubscription, PushSubscriptions
from model.preferences.schema import Preferences
from tests.model.notices.test_channels import LINKS, a_message

NOW = 1_800_000_000.0


def test_the_example_of_the_standard_is_encrypted_as_it_says() -> None:
    """RFC 8291, section 5."""
    sender = PushKey.from_text("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw").private
    body = encrypt(
        b"When I grow up, I want to be a watermelon",
        decode(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        ),
        decode("BTBZMqHH6r4Tts7J_aSIgg"),
        sender=sender,
        salt=decode("DGv6ra1nlYgDCS1FRnbzlw"),
    )
    assert encode(body) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6"
        "TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulc"
        "y4a-fN"
    )


@dataclass
class Browser:
    """A browser with its keys, and what its push service got for it."""

    name: str
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    auth: bytes = b"0123456789abcdef"
    status: int = 201
    headers: dict[str, str] = field(default_factory=dict)
    received: list[tuple[dict[str, Any], Any]] = field(default_factory=list)

    @property
    def public(self) -> bytes:
        return self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )

    def subscription(self, url: str) -> PushSubscription:
        return PushSubscription(
            endpoint=f"{url}/{self.name}", p256dh=encode(self.public), auth=encode(self.auth)
        )

    def decrypt(self, body: bytes) -> Any:
        salt, length = body[:16], body[20]
        sender, cipher = body[21 : 21 + length], body[21 + length :]
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        shared = self.key.exchange(ec.ECDH(), public)

        def derive(secret: bytes, salt: bytes, info: bytes, size: int) -> bytes:
            return HKDF(hashes.SHA256(), size, salt, info).derive(secret)

        secret = derive(shared, self.auth, b"WebPush: info\0" + self.public + sender, 32)
        key = derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derive(secret, salt, b"Content-Encoding: nonce\0", 12)
        return json.loads(AESGCM(key).decrypt(nonce, cipher, None).removesuffix(b"\x02"))


@dataclass
class PushService:
    """A push service with two browsers."""

    url: str = ""
    browsers: dict[str, Browser] = field(
        default_factory=lambda: {name: Browser(name) for name in ("phone", "laptop")}
    )

    async def answer(self, request: web.Request) -> web.Response:
        browser = self.browsers[request.match_info["name"]]
        browser.received.append((dict(request.headers), browser.decrypt(await request.read())))
        return web.Response(status=browser.status, headers=browser.headers)


@pytest.fixture
async def service() -> AsyncIterator[PushService]:
    made = PushService()
    app = web.Application()
    app.add_routes([web.post("/{name}", made.answer)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


@pytest.fixture
async def subscriptions(service: PushService, tmp_path: Path) -> PushSubscriptions:
    made = PushSubscriptions(tmp_path / "push.json")
    for browser in service.browsers.values():
        await made.add(browser.subscription(service.url))
    return made


async def test_each_browser_gets_the_notice_encrypted_and_signed(
    service: PushService, subscriptions: PushSubscriptions
) -> None:
    channel = PushChannel(LINKS, subscriptions, lambda: NOW)
    assert channel.is_ready(Preferences())
    assert await channel.send(a_message(), Preferences()) == "2 browsers"
    for browser in service.browsers.values():
        [(headers, notice)] = browser.received
        assert notice == {
            "title": "login asks for permission",
            "body": "Bash: make",
            "tag": "permission.s1",
            "go": "#/session/s1",
            "actions": [
                {"title": "Allow once", "path": "/act/allow--s1-r1"},
                {"title": "Deny", "path": "/act/deny--s1-r1"},
            ],
        }
        assert (headers["Content-Encoding"], headers["Urgency"]) == ("aes128gcm", "high")
        claims = check_signature(headers["Authorization"])
        assert claims["aud"] == service.url and 0 < claims["exp"] - NOW < 86400


def check_signature(header: str) -> Any:
    """Return the claims of a signature, which must be valid."""
    token, key = header.removeprefix("vapid t=").split(", k=")
    signed, _, signature = token.rpartition(".")
    raw = decode(signature)
    r, s = int.from_bytes(raw[:32]), int.from_bytes(raw[32:])
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(key))
    try:
        public.verify(encode_dss_signature(r, s), signed.encode(), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        pytest.fail("the signature is wrong")
    return json.loads(decode(signed.partition(".")[2]))


async def test_a_browser_that_is_gone_is_removed(
    service: PushService, subscriptions: PushSubscriptions, tmp_path: Path
) -> None:
    service.browsers["phone"].status = 410
    await PushChannel(LINKS, subscriptions).send(a_message(), Preferences())
    again = PushSubscriptions(tmp_path / "push.json")
    await again.load()
    assert [each.endpoint for each in again.all] == [f"{service.url}/laptop"]


async def test_a_retry_goes_only_to_the_browsers_that_lack_the_notice(
    service: PushService, subscriptions: PushSubscriptions
) -> None:
    phone, laptop = service.browsers["phone"], service.browsers["laptop"]
    phone.status, phone.headers = 429, {"Retry-After": "90"}
    channel = PushChannel(LINKS, subscriptions)
    with pytest.raises(DeliveryError) as raised:
        await channel.send(a_message(), Preferences())
    assert (raised.value.retry, raised.value.retry_after) == (True, 90.0)
    phone.status = 201
    await channel.send(a_message(), Preferences())
    assert (len(phone.received), len(laptop.received)) == (2, 1)
    phone.status = 403
    with pytest.raises(DeliveryError, match=r"refused the message \(403\)") as raised:
        await channel.send(a_message("plan"), Preferences())
    assert not raised.value.retry


async def test_key_and_browsers_are_kept_in_a_private_file(
    subscriptions: PushSubscriptions, tmp_path: Path
) -> None:
    path = tmp_path / "push.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = PushSubscriptions(path)
    await again.load()
    assert (await again.get_key()).public == (await subscriptions.get_key()).public
    assert again.all == subscriptions.all
    path.write_text("{broken")
    await PushSubscriptions(path).load()
    assert not path.exists() and list(tmp_path.glob("push.json.broken-*"))


async def test_addresses_and_keys_that_cannot_be_right_are_refused(
    subscriptions: PushSubscriptions,
) -> None:
    good = subscriptions.all[0]
    for wrong in (
        {"endpoint": "http://push.example/x"},
        {"p256dh": encode(b"\x04" + bytes(64))},
        {"p256dh": "not base64 at all!"},
    ):
        with pytest.raises(SpinneyError, match="Invalid field"):
            await subscriptions.add(good.model_copy(update=wrong))
