"""`/theme.css`: the colours of `themes/` as custom properties for the page, light and dark.

It needs no token, as it says nothing of anybody: which themes are wanted stands in the address.
"""

import hashlib
from collections.abc import Mapping
from functools import lru_cache

from aiohttp import web

from model.errors import SpinneyError
from model.preferences import Preferences
from themes import loader
from themes.stylesheet import custom_properties, diff_properties, token_rules, word_properties

_YEAR = "public, max-age=31536000, immutable"


async def theme_css(request: web.Request) -> web.Response:
    """The style sheet for `?dark=NAME&light=NAME`, syntax themes; the usual ones without."""
    usual = Preferences()
    dark = request.query.get("dark", usual.syntax_theme_dark)
    light = request.query.get("light", usual.syntax_theme_light)
    try:
        text, etag = _sheet(dark, light)
    except ValueError as error:
        raise SpinneyError(str(error), "not_found") from None
    # A newer Spinney may have other colours under the same names; it then asks under its own `v`.
    caching = _YEAR if "v" in request.query else "no-cache"
    if any(known.value == etag for known in request.if_none_match or ()):
        return web.Response(status=304, headers={"Cache-Control": caching})
    response = web.Response(
        text=text, content_type="text/css", charset="utf-8", headers={"Cache-Control": caching}
    )
    response.etag = etag
    response.enable_compression()
    return response


@lru_cache(maxsize=32)
def _sheet(dark: str, light: str) -> tuple[str, str]:
    dark_rules, light_rules = _rules("dark", dark), _rules("light", light)
    text = "\n".join(
        [
            "/* Made by Spinney from its themes. */",
            *_scoped(light_rules, ":root", "color-scheme: light;"),
            "@media (prefers-color-scheme: dark) {",
            *_scoped(dark_rules, ':root:not([data-theme="light"])', "color-scheme: dark;"),
            "}",
            *_scoped(dark_rules, ':root[data-theme="dark"]', "color-scheme: dark;"),
            *token_rules(),
            "",
        ]
    )
    return text, hashlib.sha256(text.encode()).hexdigest()[:32]


def _rules(kind: loader.Kind, syntax: str) -> dict[str, Mapping[str, str]]:
    theme = loader.syntax_theme(syntax)
    return {
        "": custom_properties(loader.chrome(kind), theme),
        " .added": diff_properties(theme, "inserted"),
        " .removed": diff_properties(theme, "deleted"),
        " .added .word": word_properties(theme, "inserted"),
        " .removed .word": word_properties(theme, "deleted"),
    }


def _scoped(rules: Mapping[str, Mapping[str, str]], scope: str, more: str) -> list[str]:
    sheet = []
    for where, properties in rules.items():
        body = " ".join(f"{name}: {value};" for name, value in properties.items())
        sheet.append(f"{scope}{where} {{ {'' if where else more + ' '}{body} }}")
    return sheet
