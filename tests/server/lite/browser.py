"""A browser without JavaScript: parses pages strictly, keeps cookies, submits forms."""

from dataclasses import dataclass
from typing import Any

import aiohttp
from yarl import URL

from server.app import Server
from tests.server.conftest import TOKEN, base_url
from tests.server.lite.strict_html import StrictPage


@dataclass
class Response:
    """A response."""

    status: int
    headers: Any
    body: str

    @property
    def page(self) -> StrictPage:
        """The parsed page, which must be valid."""
        return StrictPage(self.body)

    @property
    def location(self) -> str:
        """The address of the redirect."""
        assert self.status == 303, (self.status, self.body)
        return str(self.headers["Location"])


class Browser:
    """A browser on one server."""

    def __init__(self, server: Server, http: aiohttp.ClientSession) -> None:
        self.url = base_url(server)
        self._http = http
        self.cookies: dict[str, str] = {}

    async def request(self, method: str, path: str, data: Any = None, **headers: str) -> Response:
        """Send a request, without following redirects."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookies:
            names["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        url = URL(self.url + path.partition("#")[0], encoded=True)
        async with self._http.request(
            method, url, data=data, headers=names, allow_redirects=False
        ) as response:
            for name, morsel in response.cookies.items():
                if morsel.value and morsel["max-age"] != "0":
                    self.cookies[name] = morsel.value
                else:
                    self.cookies.pop(name, None)
            return Response(response.status, response.headers, await response.text())

    async def get_page(self, path: str = "/lite") -> StrictPage:
        """Get a page, which must exist."""
        seen = await self.request("GET", path)
        assert seen.status == 200, (seen.status, seen.body)
        return seen.page

    async def submit(self, page: StrictPage, name: str, /, **changed: str) -> Response:
        """Submit a form of the page with these fields or buttons."""
        form = page.form(name)
        fields = {**form.fields, **changed}
        return await self.request("POST", form.action, fields, Origin=self.url)

    async def submit_and_follow(self, page: StrictPage, name: str, /, **changed: str) -> StrictPage:
        """Submit a form that must be accepted; returns the page it redirects to."""
        return await self.get_page((await self.submit(page, name, **changed)).location)

    async def sign_in(self, token: str = TOKEN, **changed: str) -> Response:
        """Submit the form that asks for the token."""
        seen = await self.request("GET", "/lite")
        assert seen.status == 401
        return await self.submit(seen.page, "sign-in", token=token, **changed)
