"""`/theme.css`: the colours of `themes/` as custom properties for the page, light and dark.

It needs no token, as it says nothing of anybody: which themes are wanted stands in the address.
"""

import asyncio
import hashlib
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from aiohttp import web

from model.base.errors import SpinneyError
from model.preferences.schema import Preferences
from themes import loader
from themes.high_contrast import Rules, increase_contrast
from themes.stylesheet import custom_properties, diff_properties, token_rules, word_properties

_PLAIN = re.compile(r"color-scheme$|--ui-|--code-(background|foreground)$")
_YEAR = "public, max-age=31536000, immutable"


async def theme_css(request: web.Request) -> web.Response:
    """The style sheet for `?dark=NAME&light=NAME`, syntax themes; the usual ones without.

    `plain` leaves out all that colours code, which is nearly all of it.
    """
    usual = Preferences()
    dark = request.query.get("dark", usual.syntax_theme_dark)
    light = request.query.get("light", usual.syntax_theme_light)
    try:
        text, etag = await asyncio.to_thread(_sheet, dark, light, "plain" in request.query)
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
def _sheet(dark: str, light: str, is_plain: bool) -> tuple[str, str]:
    dark_rules, light_rules = _rules("dark", dark), _rules("light", light)
    kept: Callable[[Rules], Rules] = _plain if is_plain else dict
    text = "\n".join(
        [
            "/* Made by Spinney from its themes. */",
            *_both(kept(light_rules), kept(dark_rules)),
            "@media (prefers-contrast: more) {",
            *_both(kept(increase_contrast(light_rules)), kept(increase_contrast(dark_rules))),
            "}",
            *([] if is_plain else token_rules()),
            "",
        ]
    )
    return text, hashlib.sha256(text.encode()).hexdigest()[:32]


def _both(light: Rules, dark: Rules) -> list[str]:
    """Each in a place of its own, as what one leaves out is not for the other to say."""
    sheet = []
    for kind, rules in (("light", light), ("dark", dark)):
        sheet += [f"@media (prefers-color-scheme: {kind}) {{"]
        sheet += _scoped(rules, ":root:not([data-theme])")
        sheet += ["}", *_scoped(rules, f':root[data-theme="{kind}"]')]
    return sheet


def _rules(kind: loader.Kind, syntax: str) -> dict[str, Mapping[str, str]]:
    theme = loader.load_syntax_theme(syntax)
    return {
        "": {"color-scheme": kind, **custom_properties(loader.load_chrome(kind), theme)},
        " .added": diff_properties(theme, "inserted"),
        " .removed": diff_properties(theme, "deleted"),
        " .added .word": word_properties(theme, "inserted"),
        " .removed .word": word_properties(theme, "deleted"),
    }


def _plain(rules: Rules) -> Rules:
    """Without the colours of code, but for its ground and what stands on it."""
    return {"": {name: value for name, value in rules[""].items() if _PLAIN.match(name)}}


def _scoped(rules: Rules, scope: str) -> list[str]:
    sheet = []
    for where, properties in rules.items():
        body = " ".join(f"{name}: {value};" for name, value in properties.items())
        sheet.append(f"{scope}{where} {{ {body} }}")
    return sheet
