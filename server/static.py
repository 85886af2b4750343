"""The page: every file of `web/` read once at start, so that no request names a path on disk."""

import hashlib
import mimetypes
import re
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from model.errors import SpinneyError

WEB = Path(__file__).parent / "web"

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src *; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_PLACE_IN_THE_PAGE = re.compile(r"(/[\w-]{1,64}){0,8}/?", re.ASCII)
"""Addresses that the page itself understands; they all get `index.html`."""


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    content_type: str
    etag: str


class StaticFiles:
    """Serves what was found in a folder; links that lead out of it are not followed."""

    def __init__(self, files: dict[str, _File]) -> None:
        self._files = files

    @classmethod
    def read(cls, root: Path = WEB) -> "StaticFiles":
        """Read the folder; blocks."""
        root = root.resolve()
        inside = (path for path in root.rglob("*") if path.is_file())
        own = (path for path in inside if path.resolve().is_relative_to(root))
        return cls({f"/{path.relative_to(root).as_posix()}": _read(path) for path in own})

    async def serve(self, request: web.Request) -> web.Response:
        """The file, the page for its own addresses, or a JSON 404."""
        # The path as it was sent: nothing is decoded, joined or normalised.
        path = request.raw_path.partition("?")[0]
        file = self._files.get(path)
        if file is not None and path != "/index.html":
            return _answer(request, file, "no-cache")
        of_the_page = _PLACE_IN_THE_PAGE.fullmatch(path) or path == "/index.html"
        if of_the_page and not path.startswith(("/api/", "/ws/")):
            index = self._files.get("/index.html")
            if index is not None:
                return _answer(request, index, "no-store")
        raise SpinneyError("There is nothing at this address.", "not_found")


def _read(path: Path) -> _File:
    content = path.read_bytes()
    guessed = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return _File(content, guessed, hashlib.sha256(content).hexdigest()[:32])


def _answer(request: web.Request, file: _File, caching: str) -> web.Response:
    headers = {"Cache-Control": caching, "Content-Security-Policy": CONTENT_SECURITY_POLICY}
    known = request.if_none_match or ()
    if caching != "no-store" and any(etag.value == file.etag for etag in known):
        return web.Response(status=304, headers=headers)
    text = file.content_type.startswith("text/")
    response = web.Response(
        body=file.content,
        content_type=file.content_type,
        charset="utf-8" if text else None,
        headers=headers,
    )
    if caching != "no-store":
        response.etag = file.etag
    return response
