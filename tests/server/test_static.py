"""The static files of the page: headers, versions, and that no other file is served."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import aiohttp
import pytest

from server.app import Server
from server.fonts import font_files
from server.static import WEB, StaticFiles, strip_comments
from tests.server.conftest import base_url, raw_request
from tests.tables import table

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
    b"/js/main.js/",
    b"/v/../js/main.js",
    b"/.git/config",
    b"/__init__.py",
]


@table("path", HOSTILE)
async def test_a_hostile_path_is_a_404(server: Server, path: bytes) -> None:
    status, answer = await raw_request(server, b"GET " + path + b" HTTP/1.1", b"Host: localhost")
    assert status in (400, 404)
    assert b"root:" not in answer
    if status == 404:
        assert b'"error_type": "not_found"' in answer


def versioned_url(server: Server, name: str) -> str:
    without_fonts = StaticFiles.read(more=font_files(Path("nowhere")))
    return f"{base_url(server)}/v/{without_fonts.version}{name}"


async def test_the_page_needs_no_token_and_runs_only_its_own_scripts(
    server: Server, http: aiohttp.ClientSession
) -> None:
    response = await http.get(base_url(server) + "/")
    assert response.status == 200
    assert response.content_type == "text/html"
    policy = response.headers["Content-Security-Policy"]
    for rule in (
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ):
        assert rule in policy
    assert "unsafe" not in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize(
    ("name", "content_type"),
    [("/js/main.js", "text/javascript"), ("/css/base.css", "text/css")],
)
async def test_files_with_a_version_in_their_address_are_immutable(
    server: Server, http: aiohttp.ClientSession, name: str, content_type: str
) -> None:
    response = await http.get(versioned_url(server, name))
    assert (response.status, response.content_type) == (200, content_type)
    assert "immutable" in response.headers["Cache-Control"]
    assert response.headers["Content-Encoding"] == "gzip"
    source = (WEB / name.lstrip("/")).read_text()
    assert await response.text() == (strip_comments(source) if name.endswith(".js") else source)
    known = {"If-None-Match": response.headers["ETag"]}
    assert (await http.get(versioned_url(server, name), headers=known)).status == 304


async def test_a_client_without_compression_gets_the_file_uncompressed(
    server: Server, http: aiohttp.ClientSession
) -> None:
    plain = {"Accept-Encoding": "identity"}
    response = await http.get(versioned_url(server, "/js/main.js"), headers=plain)
    assert "Content-Encoding" not in response.headers
    assert await response.text() == strip_comments((WEB / "js" / "main.js").read_text())


@pytest.mark.parametrize(
    ("script", "served"),
    [
        ("a = 1; // one\n// two\nb = 2;", "a = 1;\n\nb = 2;"),
        ("/** What\n * it is. */\nf(/** @type {A} */ (x));", "\n\nf( (x));"),
        ("""g("/* no */", '// no', `http://${x}/*`); // yes""", None),
        ("""g("a \\" // no");\nh();""", """g("a \\" // no");\nh();"""),
    ],
)
def test_scripts_are_served_without_comments(script: str, served: str | None) -> None:
    assert strip_comments(script) == (served or script.removesuffix(" // yes"))


PARSE = """
const { SourceTextModule } = await import("node:vm");
for (const script of JSON.parse(await new Response(process.stdin).text())) {
  try { new SourceTextModule(script); } catch (error) { console.log(String(error), script); }
}
"""


def test_scripts_without_comments_still_parse() -> None:
    node = shutil.which("node") or pytest.skip("needs node")
    whole = [path.read_text() for path in sorted(WEB.rglob("*.js"))]
    served = [strip_comments(script) for script in whole]
    assert [script.count("\n") for script in served] == [script.count("\n") for script in whole]
    assert not [found for script in served if (found := re.search(r"(?m)^\s*(//|/?\*)", script))]
    command = [node, "--experimental-vm-modules", "--input-type=module", "--eval", PARSE]
    ran = subprocess.run(command, input=json.dumps(served), text=True, capture_output=True)
    assert ran.stdout == "", ran.stdout
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [("bytes=0-1", 0, 2), ("bytes=6000-", 6000, 6218), ("bytes=-8", 6210, 6218)],
)
async def test_a_sound_supports_range_requests(
    server: Server, http: aiohttp.ClientSession, asked: str, start: int, end: int
) -> None:
    address = versioned_url(server, "/sounds/pop.wav")
    response = await http.get(address, headers={"Range": asked})
    assert response.status == 206
    assert response.headers["Content-Range"] == f"bytes {start}-{end - 1}/6218"
    assert await response.read() == (WEB / "sounds" / "pop.wav").read_bytes()[start:end]


@pytest.mark.parametrize("asked", ["bytes=9000-", "bytes=x", "lines=1-2"])
async def test_an_invalid_range_returns_the_whole_file(
    server: Server, http: aiohttp.ClientSession, asked: str
) -> None:
    address = versioned_url(server, "/sounds/pop.wav")
    response = await http.get(address, headers={"Range": asked})
    assert (response.status, len(await response.read())) == (200, 6218)


async def test_a_file_of_another_version_is_a_404(
    server: Server, http: aiohttp.ClientSession
) -> None:
    for path in ("/v/0000000000000000/js/main.js", "/js/main.js", "/v/x"):
        assert (await http.get(base_url(server) + path)).status == 404


def test_changed_content_changes_the_version(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("1")
    before = StaticFiles.read(tmp_path).version
    assert StaticFiles.read(tmp_path).version == before
    (tmp_path / "a.js").write_text("2")
    assert StaticFiles.read(tmp_path).version != before


async def test_the_page_references_only_existing_files(
    server: Server, http: aiohttp.ClientSession
) -> None:
    page = await (await http.get(base_url(server) + "/")).text()
    named = re.findall(r'(?:href|src)="(/[^"#]*)"', page)
    assert len(named) > 10
    for address in named:
        # The page without JavaScript requires signing in.
        wanted = 401 if address == "/lite" else 200
        assert (await http.get(base_url(server) + address)).status == wanted, address


async def test_the_page_preloads_its_start_and_no_other_view(
    server: Server, http: aiohttp.ClientSession
) -> None:
    page = await (await http.get(base_url(server) + "/")).text()
    preloaded = re.findall(r'rel="modulepreload" href="/v/[^/]+(/js/[^"]+)"', page)
    assert {"/js/main.js", "/js/views/home.js"} <= set(preloaded)
    assert [name for name in preloaded if "/views/" in name] == ["/js/views/home.js"]
    assert "{preload}" not in page and "{version}" not in page


async def test_addresses_of_the_page_get_the_page_and_missing_files_a_json_404(
    server: Server, http: aiohttp.ClientSession
) -> None:
    page = await (await http.get(base_url(server) + "/")).text()
    browser = {"Accept": "text/html,*/*;q=0.8"}
    opened = await http.get(base_url(server) + "/sessions/abc-1", headers=browser)
    assert await opened.text() == page
    missing = await http.get(base_url(server) + "/missing.js")
    assert missing.status == 404
    assert (await missing.json())["error_type"] == "not_found"
    assert (await http.post(base_url(server) + "/")).status == 405


def test_a_symbolic_link_out_of_the_folder_is_not_served(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    root = tmp_path / "web"
    root.mkdir()
    (root / "index.html").write_text("page")
    (root / "out.txt").symlink_to(secret)
    (root / "in.html").symlink_to(root / "index.html")
    assert set(StaticFiles.read(root)._files) == {"/index.html", "/in.html"}


def test_the_page_never_parses_html_from_text() -> None:
    scripts = list(WEB.rglob("*.js"))
    assert len(scripts) > 10
    for script in scripts:
        text = script.read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, script.name


@pytest.mark.parametrize(
    ("path", "accept", "status"),
    [
        ("/session/0f3a", "*/*", 404),
        ("/metrics", "application/json", 404),
        ("/", "*/*", 200),
    ],
)
async def test_programs_get_the_page_only_at_its_root(
    server: Server, http: aiohttp.ClientSession, path: str, accept: str, status: int
) -> None:
    response = await http.get(base_url(server) + path, headers={"Accept": accept})
    assert response.status == status
    assert response.content_type == ("text/html" if status == 200 else "application/json")
