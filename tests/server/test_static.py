"""The page's files: what is served, how, and that nothing outside of them is."""

import re
import tomllib
from pathlib import Path

import aiohttp
import pytest

from server.app import Server
from server.static import WEB, StaticFiles
from tests.server.conftest import base_url, raw_request

CHROME = Path(__file__).parents[2] / "themes" / "chrome"

HOSTILE = [
    b"/../pyproject.toml",
    b"/%2e%2e/pyproject.toml",
    b"/..%2fpyproject.toml",
    b"//etc/passwd",
    b"/%00",
    b"/index.html%00",
    b"/..\\x",
    b"/....//x",
    b"/" + b"a" * 5000,
    b"/a.b/c",
    b"/app.js/",
    b"/.git/config",
    b"/__init__.py",
]


@pytest.mark.parametrize("path", HOSTILE)
async def test_a_hostile_path_is_a_404(server: Server, path: bytes) -> None:
    status, answer = await raw_request(server, b"GET " + path + b" HTTP/1.1", b"Host: localhost")
    assert status in (400, 404)
    assert b"root:" not in answer
    if status == 404:
        assert b'"error_type": "not_found"' in answer


async def test_the_page_needs_no_token_and_runs_only_its_own_scripts(
    server: Server, http: aiohttp.ClientSession
) -> None:
    response = await http.get(base_url(server) + "/")
    assert response.status == 200
    assert response.content_type == "text/html"
    policy = response.headers["Content-Security-Policy"]
    for rule in ("default-src 'self'", "script-src 'self'", "object-src 'none'", "connect-src *"):
        assert rule in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["Cache-Control"] == "no-store"


async def test_every_file_of_the_page_is_served_with_its_type(
    server: Server, http: aiohttp.ClientSession
) -> None:
    types = {"/app.js": "text/javascript", "/style.css": "text/css"}
    for path, content_type in types.items():
        response = await http.get(base_url(server) + path)
        assert (response.status, response.content_type) == (200, content_type)
        again = await http.get(
            base_url(server) + path, headers={"If-None-Match": response.headers["ETag"]}
        )
        assert again.status == 304


async def test_addresses_of_the_page_get_the_page_and_missing_files_a_json_404(
    server: Server, http: aiohttp.ClientSession
) -> None:
    page = await (await http.get(base_url(server) + "/")).text()
    assert await (await http.get(base_url(server) + "/sessions/abc-1")).text() == page
    missing = await http.get(base_url(server) + "/missing.js")
    assert missing.status == 404
    assert (await missing.json())["error_type"] == "not_found"
    assert (await http.post(base_url(server) + "/")).status == 405


def test_a_link_out_of_the_folder_is_not_served(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    root = tmp_path / "web"
    root.mkdir()
    (root / "index.html").write_text("page")
    (root / "out.txt").symlink_to(secret)
    (root / "in.html").symlink_to(root / "index.html")
    assert set(StaticFiles.read(root)._files) == {"/index.html", "/in.html"}


def test_the_page_never_parses_html_from_text() -> None:
    for script in WEB.glob("*.js"):
        text = script.read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, script.name


def test_the_pages_colours_are_those_of_the_chrome() -> None:
    names = {"muted": "text_muted", "faint": "text_faint"}
    light, dark = (
        tomllib.loads((CHROME / f"spinney-{kind}.toml").read_text())["ui"]
        for kind in ("light", "dark")
    )
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", (WEB / "style.css").read_text())
    assert len(pairs) > 15
    for name, in_light, in_dark in pairs:
        key = names.get(name, name.replace("-", "_"))
        assert (in_light, in_dark) == (light[key], dark[key]), name
