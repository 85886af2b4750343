"""Uploading files for messages."""

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from PIL import Image

from model.api.sessions import get_messages
from model.commands.dispatch import run
from model.domain.messages import ImageBlock
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from server.app import Server
from server.limits import Limits
from tests.conftest import Eventually
from tests.server.conftest import StartServer, base_url, bearer

Attach = Callable[..., Awaitable[tuple[int, dict[str, Any]]]]
RAW = {"Content-Type": "application/octet-stream"}


@pytest.fixture
def attach(http: aiohttp.ClientSession, session: Session) -> Attach:
    async def post(
        server: Server, data: bytes, name: str = "x", id: str = session.id, **headers: str
    ) -> tuple[int, dict[str, Any]]:
        async with http.post(
            f"{base_url(server)}/api/sessions/{id}/attachments",
            params={"name": name},
            data=data,
            headers={**RAW, **bearer(), **headers},
        ) as response:
            return response.status, await response.json()

    return post


async def test_uploads_are_sent_with_a_message(
    server: Server, attach: Attach, session: Session, workspace: Workspace, eventually: Eventually
) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (3136, 200)).save(buffer, "png")
    status, image = await attach(server, buffer.getvalue(), "map.png")
    path = image.pop("path")
    size = Path(path).stat().st_size
    assert (status, image) == (
        201,
        {"name": "map.png", "kind": "image", "size": size, "width": 1568, "height": 100},
    )
    # More than any other body may have.
    name = "../the name that a phone makes on a Thursday.csv"
    status, file = await attach(server, bytes(17 * 1024 * 1024), name)
    assert (status, file["kind"], file["width"]) == (201, "file", None)
    assert (file["name"], Path(file["path"]).parent) == (name, Path(path).parent)
    assert file["path"].endswith("-the-name-that-a-phone-makes-on-a-Thu.csv")
    await workspace.chats.send(session.id, "look", [file["path"]], [path])
    await eventually(lambda: workspace.store.state.sessions[session.id].message_count)
    page = await run(workspace, get_messages, {"session_id": session.id})
    sent = next(message for message in page.messages if message.role == "user")
    assert (sent.content[-1], sent.files) == (ImageBlock(path=path), [file["path"]])


async def test_attached_pictures_are_served_and_no_other_files(
    server: Server, attach: Attach, session: Session, http: aiohttp.ClientSession
) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 4)).save(buffer, "png")
    _, picture = await attach(server, buffer.getvalue())
    _, file = await attach(server, b"a,b", "data.csv")
    url = f"{base_url(server)}/api/sessions/{session.id}/attachments"
    name = Path(picture["path"]).name
    async with http.get(f"{url}/{name}", headers=bearer()) as response:
        assert (response.status, response.content_type) == (200, "image/png")
        assert Image.open(io.BytesIO(await response.read())).size == (8, 4)
    async with http.get(f"{url}/{name}") as response:
        assert response.status == 401
    for other in (Path(file["path"]).name, "0" * 16 + ".png", "..%2F..%2Fspinney.db"):
        async with http.get(f"{url}/{other}", headers=bearer()) as response:
            assert response.status == 404


@pytest.mark.parametrize(
    ("data", "status", "why"),
    [
        (b"", 400, "The file is empty."),
        (b"\x89PNG\r\n\x1a\n and nothing", 400, "damaged"),
        (b"GIF89a\xff\xff\xff\xff", 413, "too many pixels"),
        (bytes(20 * 1024 * 1024 + 1), 413, "larger than 20 MB"),
    ],
)
async def test_what_cannot_be_attached_is_refused_with_a_reason(
    server: Server, attach: Attach, data: bytes, status: int, why: str
) -> None:
    received, answer = await attach(server, data)
    assert received == status
    assert why in answer["error"]


async def test_a_missing_session_and_a_missing_token_are_errors(
    server: Server, attach: Attach
) -> None:
    status, answer = await attach(server, b"x", id="nope")
    assert (status, answer["error"]) == (404, "Session not found: nope")
    assert (await attach(server, b"x", Authorization="Bearer wrong"))[0] == 401


async def test_other_sites_cannot_upload_where_no_token_is_required(
    start_server: StartServer, attach: Attach
) -> None:
    server = await start_server(token_required=False)
    no_token = {"Authorization": ""}
    assert (await attach(server, b"x", **no_token))[0] == 201
    assert (await attach(server, b"x", **no_token, Origin="http://evil.example"))[0] == 401
    as_text = {"Content-Type": "text/plain"}
    status, answer = await attach(server, b"x", **no_token, **as_text)
    assert (status, answer["error"]) == (
        400,
        "The body must be sent as application/octet-stream.",
    )


async def test_an_upload_that_does_not_end_is_refused(
    start_server: StartServer, http: aiohttp.ClientSession, session: Session
) -> None:
    server = await start_server(limits=Limits(upload_time=0.1))
    answered = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        yield b"x"
        await answered.wait()

    url = f"{base_url(server)}/api/sessions/{session.id}/attachments?name=x"
    async with http.post(url, data=endless(), headers={**RAW, **bearer()}) as response:
        answer = await response.json()
    answered.set()
    assert answer == {"error": "The body took too long to arrive.", "error_type": "timeout"}
