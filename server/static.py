"""The page's static files, all read from `web/` at start, so that no request names a path on disk.

The page's own addresses all serve the shell to browsers, which is revalidated each time; programs
get a 404 from all but `/`. Everything it refers
to is under a path with a hash of the whole folder and never changes, so browsers fetch it once.
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

_SUBRESOURCES = {"text/javascript", "text/css"}
"""Loaded into a page, which has the policy already: repeated forty times, it would add 13 KB."""

_CONTENT_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".wav": "audio/wav",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}
"""Not from `mimetypes`, whose table differs between machines."""

_COMPRESSED_TYPES = {
    "text/html",
    "text/javascript",
    "text/css",
    "image/svg+xml",
    "application/manifest+json",
}

_COMMENT = re.compile(
    r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\\.)|[ \t]*(?://[^\n]*|/\*.*?\*/)""",
    re.DOTALL,
)
"""In a script: a string or escaped character, which may look like a comment, or a comment."""

_PAGE_ADDRESS = re.compile(r"(/[\w-]{1,64}){0,8}/?", re.ASCII)
"""Addresses that the page handles by itself; they all serve `index.html`."""

_ROOT_FILES = ("/sw.js", "/manifest.webmanifest")
"""Files whose address must not change, and which are revalidated each time."""


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    compressed: bytes | None
    """The content, compressed with gzip, or `None` for types that are not compressed."""
    content_type: str
    etag: str


class StaticFiles:
    """Serves the files of a folder; symbolic links that lead out of it are not followed."""

    def __init__(self, files: dict[str, _File], version: str) -> None:
        self._files = files
        self.version = version
        """A hash of all files."""

    @classmethod
    def read(cls, root: Path = WEB, more: Mapping[str, bytes] | None = None) -> "StaticFiles":
        """Read the folder, and also serve `more`, by path. Does blocking I/O."""
        root = root.resolve()
        files = sorted(path for path in root.rglob("*") if path.is_file())
        paths = [path for path in files if path.resolve().is_relative_to(root)]
        contents = {f"/{path.relative_to(root).as_posix()}": path.read_bytes() for path in paths}
        contents |= more or {}
        version = hashlib.sha256()
        for name, content in contents.items():
            version.update(name.encode() + b"\0" + content + b"\0")
        for path in sorted(THEMES.rglob("*.toml")):
            version.update(path.read_bytes())  # /theme.css is cached under this version, too
        static = cls({}, version.hexdigest()[:16])
        for name, content in contents.items():
            static._files[name] = static._make_file(
                name, static._substitute(name, content, contents)
            )
        return static

    async def serve(self, request: web.Request) -> web.Response:
        """The file, the page for a browser at an address without an extension, or a JSON 404."""
        # The path as it was sent: not decoded, joined or normalized.
        path = request.raw_path.partition("?")[0]
        prefix = f"/v/{self.version}"
        if path.startswith(f"{prefix}/"):
            file = self._files.get(path.removeprefix(prefix))
            if file is not None:
                return _respond(request, file, "public, max-age=31536000, immutable")
        elif path in _ROOT_FILES and path in self._files:
            return _respond(request, self._files[path], "no-cache")
        elif not path.startswith(("/v/", "/api/", "/ws/")):
            index = self._files.get("/index.html")
            is_page = path in ("/", "/index.html") or (
                _PAGE_ADDRESS.fullmatch(path) is not None and _expects_page(request)
            )
            if index is not None and is_page:
                return _respond(request, index, "no-cache")
        raise SpinneyError("There is nothing at this address.", "not_found")

    def _substitute(self, name: str, content: bytes, all_names: Iterable[str]) -> bytes:
        """Fill in what a file has to know about the others; strips comments from scripts."""
        if name.endswith(".js"):
            content = strip_comments(content.decode()).encode()
        if name == "/index.html":
            # Modules needed at start are preloaded, including the start view; the other views are
            # loaded when they are opened.
            preloads = "".join(
                f'<link rel="modulepreload" href="/v/{self.version}{known}">\n  '
                for known in all_names
                if re.fullmatch(r"/js/(\w+|views/home)\.js", known)
            )
            content = content.replace(b"{preload}", preloads.encode())
        if name == "/sw.js":
            parts = [known for known in all_names if known.startswith(("/js/", "/css/"))]
            later = [f"/v/{self.version}{known}" for known in parts]
            content = content.replace(b"{later}", json.dumps(later).encode())
        if name == "/index.html" or name in _ROOT_FILES:
            content = content.replace(b"{version}", self.version.encode())
        return content

    def _make_file(self, name: str, content: bytes) -> _File:
        content_type = _CONTENT_TYPES.get(Path(name).suffix, "application/octet-stream")
        compressed = (
            gzip.compress(content, 9, mtime=0) if content_type in _COMPRESSED_TYPES else None
        )
        etag = hashlib.sha256(content).hexdigest()[:32]
        return _File(content, compressed, content_type, etag)


def strip_comments(script: str) -> str:
    """Remove comments, which are a third of the page's scripts; line numbers stay the same."""
    return _COMMENT.sub(lambda match: match[1] or "\n" * match[0].count("\n"), script)


def _expects_page(request: web.Request) -> bool:
    """Whether a browser opens the address: programs name no type, or another one."""
    return "text/html" in request.headers.get("Accept", "").lower()


def _respond(request: web.Request, file: _File, caching: str) -> web.Response:
    headers = {"Cache-Control": caching, "Vary": "Accept-Encoding"}
    if file.content_type not in _SUBRESOURCES or caching == "no-cache":
        headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    if any(etag.value == file.etag for etag in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    body = file.content
    if file.compressed is not None and "gzip" in request.headers.get("Accept-Encoding", ""):
        body = file.compressed
        headers["Content-Encoding"] = "gzip"
    status = 200
    if file.compressed is None and (requested := _requested_range(request, len(body))) is not None:
        headers["Content-Range"] = f"bytes {requested.start}-{requested.stop - 1}/{len(body)}"
        body, status = body[requested.start : requested.stop], 206
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


def _requested_range(request: web.Request, length: int) -> range | None:
    """The requested range of bytes, if any: Safari plays sounds only from range requests."""
    try:
        http_range = request.http_range
    except ValueError:
        return None
    requested = range(*http_range.indices(length))
    return requested if "Range" in request.headers and requested else None
