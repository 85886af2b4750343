"""The colors of the page: generated from the themes, for every pair of them."""

import gzip
import re
from typing import get_args

import aiohttp
import pytest

from server.app import Server
from tests.server.conftest import base_url
from themes import loader
from themes.tokens import TokenClass


async def get_style_sheet(server: Server, http: aiohttp.ClientSession, query: str = "") -> str:
    response = await http.get(f"{base_url(server)}/theme.css{query}")
    assert (response.status, response.content_type) == (200, "text/css")
    return await response.text()


async def test_it_needs_no_token_and_contains_both_chromes(
    server: Server, http: aiohttp.ClientSession
) -> None:
    text = await get_style_sheet(server, http)
    for kind in ("dark", "light"):
        chrome = loader.load_chrome(kind)
        assert f"--ui-background: {chrome.ui['background']};" in text


@pytest.mark.parametrize("name", loader.list_syntax_themes())
async def test_every_syntax_theme_has_a_color_for_every_class(
    server: Server, http: aiohttp.ClientSession, name: str
) -> None:
    kind = loader.load_syntax_theme(name).kind
    sheets = await get_style_sheet(server, http, f"?{kind}={name}")
    text, _, _ = sheets.partition("@media (prefers-contrast: more)")
    background = loader.load_syntax_theme(name).ui["background"]
    assert f"--code-background: {background};" in text
    [rules] = re.findall(r"^:root\[data-theme=.dark.\] \{(.*)\}$", text, re.MULTILINE)
    assert set(re.findall(r"--tok-([a-z-]+): #", rules)) == {
        token.replace("_", "-") for token in loader.load_syntax_theme(name).tokens
    }


async def test_every_class_has_a_rule_and_every_diff_scope_a_background(
    server: Server, http: aiohttp.ClientSession
) -> None:
    text = await get_style_sheet(server, http)
    rules = dict(re.findall(r"^\.tok-([a-z_]+) \{ color: var\((--tok-[a-z-]+)\);", text, re.M))
    assert rules == {name: f"--tok-{name.replace('_', '-')}" for name in get_args(TokenClass)}
    for scope in (".added", ".removed", ".added .word", ".removed .word"):
        background = re.search(rf'dark"\] {re.escape(scope)} \{{.*--code-side: (#\w{{6}});', text)
        assert background, scope


async def test_an_unknown_theme_is_a_404(server: Server, http: aiohttp.ClientSession) -> None:
    response = await http.get(base_url(server) + "/theme.css?dark=loom")
    assert response.status == 404
    assert "Choose one of" in (await response.json())["error"]


async def test_a_plain_sheet_has_the_same_colors_except_for_code(
    server: Server, http: aiohttp.ClientSession
) -> None:
    whole, plain = (
        await get_style_sheet(server, http),
        await get_style_sheet(server, http, "?plain=1"),
    )
    assert len(gzip.compress(plain.encode())) < 2500
    assert "--tok-" not in plain
    assert "prefers-contrast" in plain
    properties = set(re.findall(r"--(?:ui|code)-[\w-]+: [^;]+;", plain))
    assert properties <= set(re.findall(r"--[\w-]+: [^;]+;", whole))
    assert set(re.findall(r"--ui-[\w-]+: [^;]+;", whole)) <= properties


async def test_it_is_immutable_if_the_address_has_a_version(
    server: Server, http: aiohttp.ClientSession
) -> None:
    once = await http.get(base_url(server) + "/theme.css?v=1")
    assert "immutable" in once.headers["Cache-Control"]
    each_time = await http.get(base_url(server) + "/theme.css")
    assert each_time.headers["Cache-Control"] == "no-cache"
    known = {"If-None-Match": each_time.headers["ETag"]}
    assert (await http.get(base_url(server) + "/theme.css", headers=known)).status == 304


async def test_rules_of_one_color_scheme_do_not_apply_in_the_other(
    server: Server, http: aiohttp.ClientSession
) -> None:
    text = await get_style_sheet(server, http)
    rules = re.findall(
        r"^(?:@media \(prefers-color-scheme: (\w+)\)|(:root\S*))", text, re.MULTILINE
    )
    device = ""
    for scheme, scope in rules:
        device = scheme or device
        if scope:
            assert scope in (":root:not([data-theme])", f':root[data-theme="{device}"]')
