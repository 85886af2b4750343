"""Guests of a server in tests: links, devices, and their sockets."""

from dataclasses import dataclass
from typing import Any

import aiohttp

from model.api.guests import NewGuestLink
from model.commands.guests import create_guest_link
from model.runtime.workspace import Workspace
from server.app import Server
from tests.server.conftest import Socket, base_url, bearer, connect


@dataclass
class GuestClient:
    """A device of a guest."""

    server: Server
    http: aiohttp.ClientSession
    token: str
    link_id: str

    async def request(self, method: str, path: str, **more: Any) -> tuple[int, Any]:
        """Send a request; return status and JSON."""
        url = base_url(self.server) + path
        headers = bearer(self.token)
        async with self.http.request(method, url, headers=headers, **more) as response:
            is_json = response.content_type == "application/json"
            return response.status, await response.json() if is_json else await response.read()

    async def connect(self, **query: Any) -> Socket:
        """Open a WebSocket."""
        return await connect(self.server, self.http, token=self.token, **query)


async def open_link(server: Server, http: aiohttp.ClientSession, url: str) -> tuple[int, Any]:
    """Open a guest link as a new device; return status and JSON."""
    link = url.partition("#guest=")[2]
    async with http.post(f"{base_url(server)}/api/guest", json={"link": link}) as response:
        return response.status, await response.json()


async def invite(
    workspace: Workspace, server: Server, http: aiohttp.ClientSession, **terms: Any
) -> GuestClient:
    """Make a link and open it."""
    made: NewGuestLink = await create_guest_link(workspace, **terms)
    status, opened = await open_link(server, http, made.url)
    assert status == 201, opened
    return GuestClient(server, http, opened["token"], made.link.id)
