"""Malformed requests, compressed bodies, and frames without a mask."""

import asyncio
import gzip
import json
import logging
import os
import struct
from typing import Any

import aiohttp
import pytest
from aiohttp import compression_utils, http_parser

from server.app import Server
from tests.patience import PATIENCE
from tests.server.conftest import base_url, bearer, next_frame, raw_request
from tests.tables import table

UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    b"Authorization: " + bearer()["Authorization"].encode() + b"\r\n\r\n"
)
REQUEST = b'{"id":"a","command":"get_http_server_status"}'
BOMB = gzip.compress(bytes(20_000_000))
PLACES = ("/lite/sign-in", "/api/sessions/x/messages", "/api/auth", "/healthz", "/nowhere.js")


@pytest.fixture
def decompressors(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The options of each decompressor that was created."""
    created: list[Any] = []
    real = compression_utils.ZLibDecompressor

    def begin(*args: Any, **options: Any) -> Any:
        created.append(options)
        return real(*args, **options)

    monkeypatch.setattr(http_parser, "ZLibDecompressor", begin)
    return created


@table("authenticated", [True, False])
@table("encoding", ["gzip", "deflate", "br", "x, gzip"])
async def test_a_compressed_body_is_refused_and_never_decompressed(
    server: Server,
    http: aiohttp.ClientSession,
    decompressors: list[Any],
    caplog: pytest.LogCaptureFixture,
    encoding: str,
    authenticated: bool,
) -> None:
    headers = {"Content-Encoding": encoding, "Content-Type": "application/json"}
    headers |= bearer() if authenticated else {}
    for place in PLACES:
        for body in (BOMB, b"no gzip"):
            url = base_url(server) + place
            async with http.post(url, data=body, headers=headers) as response:
                answer = await response.json()
            assert (response.status, answer["error_type"]) == (415, "invalid_request"), place
            assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert not decompressors
    assert [r for r in caplog.records if r.levelno > logging.INFO] == []


async def test_a_preflight_does_not_allow_content_encoding(
    server: Server, http: aiohttp.ClientSession
) -> None:
    asked = {
        "Origin": "http://evil.test",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "Content-Encoding,content-type",
    }
    async with http.options(base_url(server) + "/lite/sign-in", headers=asked) as response:
        offered = response.headers["Access-Control-Allow-Headers"]
    assert offered == "authorization, content-type"


@table(
    ("lines", "status"),
    [
        ([b"GET / HTTP/9.9"], 400),
        ([b"\x16\x03\x01\x02"], 400),
        ([b"GET / HTTP/1.1", b"Host"], 400),
        ([b"GET /" + b"a" * 20_000 + b" HTTP/1.1", b"Host: a"], 400),
        ([b"GET / HTTP/1.1", b"Host: a", b"Cookie: \0"], 400),
        ([b"POST / HTTP/1.1", b"Host: a", b"Content-Length: x"], 400),
        ([b"GET /healthz HTTP/1.1", b"Host: a", b"Expect: nothing"], 417),
    ],
)
async def test_a_malformed_request_is_a_json_error_and_is_not_logged(
    server: Server, caplog: pytest.LogCaptureFixture, lines: list[bytes], status: int
) -> None:
    received_status, answer = await raw_request(server, *lines)
    head, _, body = answer.partition(b"\r\n\r\n")
    names = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert (received_status, names[b"Server"], names[b"X-Content-Type-Options"]) == (
        status,
        b"spinney",
        b"nosniff",
    )
    assert set(json.loads(body)) == {"error", "error_type"}
    assert b"iohttp" not in answer and b"Python" not in answer
    assert [r for r in caplog.records if r.levelno > logging.INFO] == []


@pytest.mark.parametrize("place", [b"/lite/sign-in", b"/api/sessions/x/stop", b"/healthz"])
async def test_a_malformed_chunked_body_is_a_client_error(
    server: Server, caplog: pytest.LogCaptureFixture, place: bytes
) -> None:
    chunked = (b"POST " + place + b" HTTP/1.1", b"Host: localhost", b"Transfer-Encoding: chunked")
    kind = b"Content-Type: application/json"
    proof = b"Authorization: " + bearer()["Authorization"].encode()
    status, _ = await raw_request(server, *chunked, kind, proof, body=b"zz\r\nxx\r\n")
    assert 400 <= status < 500
    assert [r for r in caplog.records if r.levelno > logging.INFO] == []


# WebSockets --------------------------------------------------------------------------------------


def frame(payload: bytes, *, masked: bool = True) -> bytes:
    """A text frame with this payload."""
    size = len(payload)
    bit = 0x80 if masked else 0
    if size < 126:
        length = bytes([bit | size])
    elif size < 65536:
        length = bytes([bit | 126]) + struct.pack("!H", size)
    else:
        length = bytes([bit | 127]) + struct.pack("!Q", size)
    if not masked:
        return b"\x81" + length + payload
    mask = os.urandom(4)
    return b"\x81" + length + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload))


@pytest.mark.parametrize("step", [1, 3, 100_000])
async def test_split_frames_are_read_and_an_unmasked_one_closes_the_connection(
    server: Server, step: int
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.status()["port"])
    long, longer = (REQUEST[:-1] + b" " * size + b"}" for size in (500, 70_000))
    async with asyncio.timeout(PATIENCE):
        writer.write(UPGRADE)
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        for sent in (frame(REQUEST) + frame(long), frame(longer)):
            for start in range(0, len(sent), step):
                writer.write(sent[start : start + step])
                if start % 1000 < step:
                    await asyncio.sleep(0)
        for _ in range(3):
            assert json.loads((await next_frame(reader))[1])["type"] == "response"
        for byte in frame(REQUEST, masked=False)[:2]:
            writer.write(bytes([byte]))
            await asyncio.sleep(0)
        opcode, payload = await next_frame(reader)
    writer.close()
    assert (opcode, struct.unpack("!H", payload[:2])[0]) == (8, 1002)
