"""A browser without JavaScript: reads pages strictly, keeps a cookie, fills in forms."""

from dataclasses import dataclass
from typing import Any

import aiohttp
from yarl import URL

from server.app import Server
from tests.server.conftest import TOKEN, base_url
from tests.server.lite.strict_html import Read


@dataclass
class Seen:
    """An answer."""

    status: int
    headers: Any
    body: str

    @property
    def page(self) -> Read:
        """The page, which must be as HTML has it."""
        return Read(self.body)

    @property
    def leads_to(self) -> str:
        """Where it sends the browser."""
        assert self.status == 303, (self.status, self.body)
        return str(self.headers["Location"])


class Browser:
    """One person's browser on one server."""

    def __init__(self, server: Server, http: aiohttp.ClientSession) -> None:
        self.url = base_url(server)
        self._http = http
        self.cookies: dict[str, str] = {}

    async def ask(self, method: str, path: str, data: Any = None, **headers: str) -> Seen:
        """One request, without following where it leads."""
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
            return Seen(response.status, response.headers, await response.text())

    async def see(self, path: str = "/lite") -> Read:
        """A page that is there."""
        seen = await self.ask("GET", path)
        assert seen.status == 200, (seen.status, seen.body)
        return seen.page

    async def submit(self, page: Read, name: str, /, **changed: str) -> Seen:
        """Send a form of the page with these fields filled in or buttons pressed."""
        form = page.form(name)
        fields = {**form.fields, **changed}
        return await self.ask("POST", form.action, fields, Origin=self.url)

    async def done(self, page: Read, name: str, /, **changed: str) -> Read:
        """Send a form that is taken; the page that it leads to."""
        return await self.see((await self.submit(page, name, **changed)).leads_to)

    async def sign_in(self, token: str = TOKEN, **changed: str) -> Seen:
        """Fill in the token."""
        seen = await self.ask("GET", "/lite")
        assert seen.status == 401
        return await self.submit(seen.page, "sign-in", token=token, **changed)
