"""What is no request, and what is compressed."""

import gzip
import json
import logging
from typing import Any

import aiohttp
import pytest
from aiohttp import compression_utils, http_parser

from server.app import Server
from tests.server.conftest import base_url, bearer, raw_request

BOMB = gzip.compress(bytes(20_000_000))
PLACES = ("/lite/sign-in", "/api/sessions/x/messages", "/api/auth", "/healthz", "/nowhere.js")


@pytest.fixture
def inflated(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was begun to be decompressed."""
    begun: list[Any] = []
    real = compression_utils.ZLibDecompressor

    def begin(*args: Any, **options: Any) -> Any:
        begun.append(options)
        return real(*args, **options)

    monkeypatch.setattr(http_parser, "ZLibDecompressor", begin)
    return begun


@pytest.mark.parametrize("proven", [True, False])
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "x, gzip"])
async def test_a_compressed_body_is_refused_and_never_opened(
    server: Server,
    http: aiohttp.ClientSession,
    inflated: list[Any],
    caplog: pytest.LogCaptureFixture,
    encoding: str,
    proven: bool,
) -> None:
    headers = {"Content-Encoding": encoding, "Content-Type": "application/json"}
    headers |= bearer() if proven else {}
    for place in PLACES:
        for body in (BOMB, b"no gzip"):
            url = base_url(server) + place
            async with http.post(url, data=body, headers=headers) as response:
                told = await response.json()
            assert (response.status, told["error_type"]) == (415, "invalid_request"), place
            assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert not inflated
    assert [r for r in caplog.records if r.levelno > logging.INFO] == []


async def test_a_page_is_not_offered_to_compress(
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


@pytest.mark.parametrize(
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
async def test_what_is_no_request_is_answered_as_every_other_error_and_not_logged(
    server: Server, caplog: pytest.LogCaptureFixture, lines: list[bytes], status: int
) -> None:
    told, answer = await raw_request(server, *lines)
    head, _, body = answer.partition(b"\r\n\r\n")
    names = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert (told, names[b"Server"], names[b"X-Content-Type-Options"]) == (
        status,
        b"spinney",
        b"nosniff",
    )
    assert set(json.loads(body)) == {"error", "error_type"}
    assert b"iohttp" not in answer and b"Python" not in answer
    assert [r for r in caplog.records if r.levelno > logging.INFO] == []


@pytest.mark.parametrize("place", [b"/lite/sign-in", b"/api/sessions/x/stop", b"/healthz"])
async def test_a_body_in_pieces_that_are_none_is_the_senders_fault(
    server: Server, caplog: pytest.LogCaptureFixture, place: bytes
) -> None:
    chunked = (b"POST " + place + b" HTTP/1.1", b"Host: localhost", b"Transfer-Encoding: chunked")
    kind = b"Content-Type: application/json"
    proof = b"Authorization: " + bearer()["Authorization"].encode()
    status, _ = await raw_request(server, *chunked, kind, proof, body=b"zz\r\nxx\r\n")
    assert 400 <= status < 500
    assert [r for r in caplog.records if r.levelno > logging.INFO] == []
