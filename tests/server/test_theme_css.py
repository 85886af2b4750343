"""The colours of the page: made from the themes, for every pair of them."""

import gzip
import re
from typing import get_args

import aiohttp
import pytest

from server.app import Server
from tests.server.conftest import base_url
from themes import loader
from themes.tokens import TokenClass


async def sheet(server: Server, http: aiohttp.ClientSession, query: str = "") -> str:
    response = await http.get(f"{base_url(server)}/theme.css{query}")
    assert (response.status, response.content_type) == (200, "text/css")
    return await response.text()


async def test_it_needs_no_token_and_holds_both_chromes(
    server: Server, http: aiohttp.ClientSession
) -> None:
    text = await sheet(server, http)
    for kind in ("dark", "light"):
        chrome = loader.load_chrome(kind)
        assert f"--ui-background: {chrome.ui['background']};" in text


@pytest.mark.parametrize("name", loader.list_syntax_themes())
async def test_every_syntax_theme_colours_every_class(
    server: Server, http: aiohttp.ClientSession, name: str
) -> None:
    kind = loader.load_syntax_theme(name).kind
    sheets = await sheet(server, http, f"?{kind}={name}")
    text, _, _ = sheets.partition("@media (prefers-contrast: more)")
    ground = loader.load_syntax_theme(name).ui["background"]
    assert f"--code-background: {ground};" in text
    [rules] = re.findall(r"^:root\[data-theme=.dark.\] \{(.*)\}$", text, re.MULTILINE)
    assert set(re.findall(r"--tok-([a-z-]+): #", rules)) == {
        token.replace("_", "-") for token in loader.load_syntax_theme(name).tokens
    }


async def test_every_class_is_drawn_and_stays_readable_on_the_grounds_of_a_diff(
    server: Server, http: aiohttp.ClientSession
) -> None:
    text = await sheet(server, http)
    drawn = dict(re.findall(r"^\.tok-([a-z_]+) \{ color: var\((--tok-[a-z-]+)\);", text, re.M))
    assert drawn == {name: f"--tok-{name.replace('_', '-')}" for name in get_args(TokenClass)}
    for scope in (".added", ".removed", ".added .word", ".removed .word"):
        ground = re.search(rf'dark"\] {re.escape(scope)} \{{.*--code-side: (#\w{{6}});', text)
        assert ground, scope


async def test_an_unknown_theme_is_told(server: Server, http: aiohttp.ClientSession) -> None:
    response = await http.get(base_url(server) + "/theme.css?dark=loom")
    assert response.status == 404
    assert "Choose one of" in (await response.json())["error"]


async def test_a_plain_sheet_has_the_same_colours_but_for_code(
    server: Server, http: aiohttp.ClientSession
) -> None:
    whole, plain = await sheet(server, http), await sheet(server, http, "?plain=1")
    assert len(gzip.compress(plain.encode())) < 2500
    assert "--tok-" not in plain
    assert "prefers-contrast" in plain
    told = set(re.findall(r"--(?:ui|code)-[\w-]+: [^;]+;", plain))
    assert told <= set(re.findall(r"--[\w-]+: [^;]+;", whole))
    assert set(re.findall(r"--ui-[\w-]+: [^;]+;", whole)) <= told


async def test_it_is_asked_for_once_where_the_address_names_the_version(
    server: Server, http: aiohttp.ClientSession
) -> None:
    once = await http.get(base_url(server) + "/theme.css?v=1")
    assert "immutable" in once.headers["Cache-Control"]
    each_time = await http.get(base_url(server) + "/theme.css")
    assert each_time.headers["Cache-Control"] == "no-cache"
    known = {"If-None-Match": each_time.headers["ETag"]}
    assert (await http.get(base_url(server) + "/theme.css", headers=known)).status == 304


async def test_what_light_says_holds_in_the_dark_nowhere(
    server: Server, http: aiohttp.ClientSession
) -> None:
    text = await sheet(server, http)
    told = re.findall(r"^(?:@media \(prefers-color-scheme: (\w+)\)|(:root\S*))", text, re.MULTILINE)
    device = ""
    for scheme, scope in told:
        device = scheme or device
        if scope:
            assert scope in (":root:not([data-theme])", f':root[data-theme="{device}"]')
