"""Sections 4.1, 7 and 8 of the interface with invalid WebSocket bytes and HTTP requests."""

import asyncio
import base64
import json
import os
import random
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
from yarl import URL

from server.http_api import OPERATIONS
from tests.contract.conftest import bearer
from tests.contract.nonsense import (  # noqa: F401 - and fixtures
    INVALID,
    SEED,
    TIMEOUT,
    ExistingIds,
    bystander,
    existing_ids_fixture,
    program_fixture,
    served_fixture,
)
from tests.nightly import examples
from tests.program import Serving
from tests.server.conftest import next_frame

# WebSocket bytes ---------------------------------------------------------------------------------


async def open_raw_socket(served: Serving) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a WebSocket as raw byte streams."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(
        f"GET /ws?token={served.token} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
        .encode()
    )  # fmt: skip
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 101 " in head
    return reader, writer


def raw_frame(first: int, payload: bytes = b"") -> bytes:
    """A masked frame; `first` is its first byte: FIN, reserved bits and opcode."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else bytes([0xFE]) + size.to_bytes(2, "big")
    return bytes([first]) + length + bytes(4) + payload


GOOD = b'{"id":"a","command":"get_http_server_status"}'
BROKEN = {
    "text that is no UTF-8": (raw_frame(0x81, b'{"id":"\xff"}'), 1007),
    "a reserved bit": (raw_frame(0x91, GOOD), 1002),
    "a reserved opcode": (raw_frame(0x83, GOOD), 1002),
    "a ping in pieces": (raw_frame(0x09, b"a"), 1002),
    "a ping that is too long": (raw_frame(0x89, b"a" * 126), 1002),
    "a continuation without a first frame": (raw_frame(0x80, GOOD), 1002),
    "a first frame within a message": (raw_frame(0x01, b"{") + raw_frame(0x81, GOOD), 1002),
    "a frame without a mask": (b"\x81" + bytes([len(GOOD)]) + GOOD, 1002),
    "a close with half a code": (raw_frame(0x88, b"\x03"), 1002),
    "a close with an invalid code": (raw_frame(0x88, b"\x00\x01"), 1002),
}


@pytest.mark.parametrize("broken", BROKEN)
async def test_a_protocol_violation_closes_the_connection_with_its_code(
    served: Serving, broken: str
) -> None:
    sent, code = BROKEN[broken]
    async with bystander(served), asyncio.timeout(TIMEOUT):
        reader, writer = await open_raw_socket(served)
        writer.write(sent)
        opcode, payload = await next_frame(reader)
        while opcode != 8:
            opcode, payload = await next_frame(reader)
        assert int.from_bytes(payload[:2], "big") == code
        writer.close()


async def test_random_bytes_close_only_their_own_connection(served: Serving) -> None:
    rng = random.Random(SEED)
    good = raw_frame(0x81, GOOD)

    async def client(number: int) -> None:
        reader, writer = await open_raw_socket(served)
        if number % 2:
            sent = rng.randbytes(rng.randint(1, 5000))
        else:
            mutated = bytearray(good * 5)
            for _ in range(rng.randint(1, 8)):
                mutated[rng.randrange(len(mutated))] = rng.randrange(256)
            sent = bytes(mutated)
        try:
            for piece in (sent[:7], sent[7:]):
                writer.write(piece)
                await writer.drain()
            writer.write_eof()
            await reader.read()
        except OSError:  # also ENOTCONN, if the server closed the connection first
            pass
        writer.transport.abort()

    async with bystander(served), asyncio.timeout(TIMEOUT):
        for start in range(0, examples(64, 640), 16):
            await asyncio.gather(*(client(start + number) for number in range(16)))


async def test_unusual_valid_frames_are_answered(served: Serving) -> None:
    pieces = raw_frame(0x01, GOOD[:5]) + raw_frame(0x00, GOOD[5:9]) + raw_frame(0x80, GOOD[9:])
    odd = {
        "a request in pieces": (pieces, "response"),
        "with a ping between them": (
            raw_frame(0x01, GOOD[:5]) + raw_frame(0x89, b"x") + raw_frame(0x80, GOOD[5:]),
            "response",
        ),
        "nothing": (raw_frame(0x81), "error"),
        "bytes": (raw_frame(0x82, GOOD), "error"),
        "an unsolicited pong": (raw_frame(0x8A, b"x") + raw_frame(0x81, GOOD), "response"),
    }
    async with bystander(served), asyncio.timeout(TIMEOUT):
        reader, writer = await open_raw_socket(served)
        for name, (sent, expected) in odd.items():
            writer.write(sent)
            answer: dict[str, Any] = {}
            while "id" not in answer:
                opcode, payload = await next_frame(reader)
                assert opcode in (1, 10), name
                answer = json.loads(payload) if opcode == 1 else {}
            assert answer["type"] == expected, name
        writer.transport.abort()


# HTTP --------------------------------------------------------------------------------------------

BODIES: tuple[bytes, ...] = (
    b"", b" ", b"{", b"[]", b"1", b"null", b'"x"', b"\xff\xfe", b"NaN", b"[" * 50_000,
    b'{"a":' * 50_000, b"1" * 5000, b"{}", b'{"message": NaN}', b"\xef\xbb\xbf{}",
    b'{"mode": 1e999}',
)  # fmt: skip
QUERIES = (
    "limit=", "limit=-1", "limit=0", "limit=1e3", "limit=x", "limit=" + "9" * 30, "limit=%00",
    "limit=" + "9" * 4400, "offset=-1", "offset=" + "9" * 30, "offset=%ff", "limit=1&limit=x",
    "limit=100&offset=99999999999999999999", "%ff=%ff", "&&&", "a" * 4000, "since=-1", "token=%F0",
)  # fmt: skip
IDS = ("no", "%00", "%2e%2e", "..%2f..", "%ff", "%F0%9F%99%82", "x" * 3000, "%ED%A0%80", "a%0d%0ab")


def http_cases(existing: ExistingIds) -> Iterator[tuple[str, str, bytes]]:
    """Method, path with query, and body."""
    ids = {"session_id": existing.session, "worktree_id": existing.worktree}
    for operation in OPERATIONS:
        paths = [operation.path.format_map(dict.fromkeys(ids, odd)) for odd in IDS]
        keeps_resources = operation.method != "DELETE" and not operation.path.endswith("/archive")
        if keeps_resources:
            right = operation.path.format_map(ids)
            paths.append(right)
            for field in operation.fields:
                for value in INVALID:
                    yield operation.method, right, json.dumps({field: value}).encode()
                    given = {"message": "x", "mode": "build", "answer": "x", field: value}
                    yield operation.method, right, json.dumps(given).encode()
            for query in QUERIES:
                yield operation.method, f"{right}?{query}", b""
        for path in paths:
            for body in BODIES:
                yield operation.method, path, body
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"):
        for path in ("/", "/api", "/api/", "/api/init", "/api/auth", "/ws", "/healthz", "//etc"):
            yield method, path, b"{}"
        for odd in (*IDS, *map(quote, ("../../etc/passwd", "\\..\\x", "a" * 300, "\u202e"))):
            yield method, f"/{odd}", b""
            yield method, f"/api/projects/{odd}/avatar", b""


async def test_every_path_with_every_invalid_body(served: Serving, existing: ExistingIds) -> None:
    cases = list(http_cases(existing))
    assert len(cases) > 1500
    random.Random(SEED).shuffle(cases)
    waiting = iter(cases[: examples(1000, len(cases))])
    headers = {**bearer(served), "Content-Type": "application/json"}

    async def client(http: aiohttp.ClientSession) -> None:
        for method, path, body in waiting:
            url = URL(served.base_url + path, encoded=True)
            async with http.request(method, url, data=body or None, headers=headers) as response:
                assert response.status < 500, (method, path[:200], body[:200])
                origin = response.headers.get("Access-Control-Allow-Origin")
                assert origin == "*", (method, path[:200], response.status)
                text = await response.text()
                assert "Traceback" not in text
                if response.status >= 400 and method != "HEAD":
                    answer = json.loads(text)
                    assert answer["error"], (method, path[:200])
                    assert answer["error_type"] != "internal_error"

    async with bystander(served), aiohttp.ClientSession() as http, asyncio.timeout(TIMEOUT):
        await asyncio.gather(*(client(http) for _ in range(16)))


HEADS = (
    b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03",
    b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n", b"GET /api/init HTTP/1.1\r\nHost: [::1\r\n\r\n",
    b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 40_000 + b"\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    b"POST /api/sessions/x/stop HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET http://evil.test/api/init HTTP/1.1\r\nHost: a\r\n\r\n", b"CONNECT a:1 HTTP/1.1\r\n\r\n",
    b"GET * HTTP/1.1\r\nHost: a\r\n\r\n", b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n", b"GET / HTTP/1.1\nHost: a\n\n",
    b"GET /ws?since=%ff HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 99\r\nSec-WebSocket-Key: ?\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nExpect: nothing\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x00" * 1000, b"GET / HTTP/1.1\r\nCookie: \x00\r\n\r\n",
)  # fmt: skip


async def test_malformed_http_requests_cause_no_server_error(served: Serving) -> None:
    rng = random.Random(SEED)
    good = b"POST /api/sessions/no/stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
    heads = [*HEADS]
    for _ in range(examples(100, 1000)):
        mutated = bytearray(good)
        for _ in range(rng.randint(1, 5)):
            mutated[rng.randrange(len(mutated))] = rng.randrange(256)
        heads.append(bytes(mutated))
    waiting = iter(heads)

    async def client() -> None:
        for head in waiting:
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(head)
            try:
                writer.write_eof()
                answer = await reader.read()
            except OSError:
                answer = b""
            writer.close()
            assert b"Traceback" not in answer, head[:200]
            assert not re.match(rb"HTTP/1\.\d 5", answer), (head[:200], answer[:300])

    async with bystander(served), asyncio.timeout(TIMEOUT):
        await asyncio.gather(*(client() for _ in range(16)))
