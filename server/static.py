"""The page: every file of `web/` read once at start, so that no request names a path on disk.

What the page's own addresses get is the shell, which is asked for each time. All it names stands
under a path with the hash of the whole folder and never changes, so a browser asks for it once.
"""

import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

import themes
from model.base.errors import SpinneyError

WEB = Path(__file__).parent / "web"
THEMES = Path(themes.__file__).parent

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; media-src 'self'; manifest-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types spinney"
)

_PARTS = {"text/javascript", "text/css"}
"""Read into a page, which has the policy already: said forty times, it is 13 KB of a start."""

_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".wav": "audio/wav",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}
"""Our own: what the system's table says of them differs between machines."""

_PACKED = {"text/html", "text/javascript", "text/css", "image/svg+xml", "application/manifest+json"}

_COMMENT = re.compile(
    r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\\.)|[ \t]*(?://[^\n]*|/\*.*?\*/)""",
    re.DOTALL,
)
"""In a script: a text or an escaped sign, which may look like a comment, or a comment."""

_PLACE_IN_THE_PAGE = re.compile(r"(/[\w-]{1,64}){0,8}/?", re.ASCII)
"""Addresses that the page itself understands; they all get `index.html`."""

_AT_THE_ROOT = ("/sw.js", "/manifest.webmanifest")
"""Files whose address must stay the same, and which are asked for anew each time."""


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    packed: bytes | None
    """Compressed, where that makes it shorter."""
    content_type: str
    etag: str


class StaticFiles:
    """Serves what was found in a folder; links that lead out of it are not followed."""

    def __init__(self, files: dict[str, _File], version: str) -> None:
        self._files = files
        self.version = version
        """Names this set of files; another set has another one."""

    @classmethod
    def read(cls, root: Path = WEB, more: Mapping[str, bytes] | None = None) -> "StaticFiles":
        """Read the folder, and serve `more` by path beside it; blocks."""
        root = root.resolve()
        inside = sorted(path for path in root.rglob("*") if path.is_file())
        own = [path for path in inside if path.resolve().is_relative_to(root)]
        contents = {f"/{path.relative_to(root).as_posix()}": path.read_bytes() for path in own}
        contents |= more or {}
        version = hashlib.sha256()
        for name, content in contents.items():
            version.update(name.encode() + b"\0" + content + b"\0")
        for path in sorted(THEMES.rglob("*.toml")):
            version.update(path.read_bytes())  # /theme.css is kept under this name, too
        made = cls({}, version.hexdigest()[:16])
        for name, content in contents.items():
            made._files[name] = made._file(name, made._filled(name, content, contents))
        return made

    async def serve(self, request: web.Request) -> web.Response:
        """The file, the page for an address without an extension, or a JSON 404."""
        # The path as it was sent: nothing is decoded, joined or normalised.
        path = request.raw_path.partition("?")[0]
        prefix = f"/v/{self.version}"
        if path.startswith(f"{prefix}/"):
            file = self._files.get(path.removeprefix(prefix))
            if file is not None:
                return _answer(request, file, "public, max-age=31536000, immutable")
        elif path in _AT_THE_ROOT and path in self._files:
            return _answer(request, self._files[path], "no-cache")
        elif not path.startswith(("/v/", "/api/", "/ws/")):
            index = self._files.get("/index.html")
            if index is not None and (_PLACE_IN_THE_PAGE.fullmatch(path) or path == "/index.html"):
                return _answer(request, index, "no-cache")
        raise SpinneyError("There is nothing at this address.", "not_found")

    def _filled(self, name: str, content: bytes, all_names: Iterable[str]) -> bytes:
        """A file with what it has to know of the others; scripts without their comments."""
        if name.endswith(".js"):
            content = without_comments(content.decode()).encode()
        if name == "/index.html":
            # What its start needs is named at once, with the view that it opens at; the other
            # views are loaded when they are opened.
            loads = "".join(
                f'<link rel="modulepreload" href="/v/{self.version}{known}">\n  '
                for known in all_names
                if re.fullmatch(r"/js/(\w+|views/needs)\.js", known)
            )
            content = content.replace(b"{preload}", loads.encode())
        if name == "/sw.js":
            parts = [known for known in all_names if known.startswith(("/js/", "/css/"))]
            later = [f"/v/{self.version}{known}" for known in parts]
            content = content.replace(b"{later}", json.dumps(later).encode())
        if name == "/index.html" or name in _AT_THE_ROOT:
            content = content.replace(b"{version}", self.version.encode())
        return content

    def _file(self, name: str, content: bytes) -> _File:
        kind = _TYPES.get(Path(name).suffix, "application/octet-stream")
        packed = gzip.compress(content, 9, mtime=0) if kind in _PACKED else None
        etag = hashlib.sha256(content).hexdigest()[:32]
        return _File(content, packed, kind, etag)


def without_comments(script: str) -> str:
    """The script as browsers need it: a third shorter, and every line where it was."""
    return _COMMENT.sub(lambda found: found[1] or "\n" * found[0].count("\n"), script)


def _answer(request: web.Request, file: _File, caching: str) -> web.Response:
    headers = {"Cache-Control": caching, "Vary": "Accept-Encoding"}
    if file.content_type not in _PARTS or caching == "no-cache":
        headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    if any(etag.value == file.etag for etag in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    body = file.content
    if file.packed is not None and "gzip" in request.headers.get("Accept-Encoding", ""):
        body = file.packed
        headers["Content-Encoding"] = "gzip"
    status = 200
    if file.packed is None and (part := _asked_part(request, len(body))) is not None:
        headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{len(body)}"
        body, status = body[part.start : part.stop], 206
    text = file.content_type.startswith("text/")
    response = web.Response(
        body=body,
        status=status,
        content_type=file.content_type,
        charset="utf-8" if text else None,
        headers=headers,
    )
    response.etag = file.etag
    return response


def _asked_part(request: web.Request, length: int) -> range | None:
    """The bytes that are asked for, if not all: Safari plays no sound but in parts."""
    try:
        asked = request.http_range
    except ValueError:
        return None
    part = range(*asked.indices(length))
    return part if "Range" in request.headers and part else None
