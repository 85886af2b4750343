"""`/theme.css`: the colors of `themes/` as custom properties for the page, light and dark.

Needs no token, because it contains nothing personal: the themes are named in the address.
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

_NOT_CODE_COLOR = re.compile(r"color-scheme$|--ui-|--code-(background|foreground)$")
_YEAR = "public, max-age=31536000, immutable"


async def theme_css(request: web.Request) -> web.Response:
    """The style sheet for the syntax themes of `?dark=NAME&light=NAME`, or the default ones.

    `plain` omits the colors of code, which are nearly all of it.
    """
    defaults = Preferences()
    dark = request.query.get("dark", defaults.syntax_theme_dark)
    light = request.query.get("light", defaults.syntax_theme_light)
    try:
        text, etag = await asyncio.to_thread(_build_sheet, dark, light, "plain" in request.query)
    except ValueError as error:
        raise SpinneyError(str(error), "not_found") from None
    # A newer Spinney may have other colors under the same names; its page then sends its own `v`.
    caching = _YEAR if "v" in request.query else "no-cache"
    if any(candidate.value == etag for candidate in request.if_none_match or ()):
        return web.Response(status=304, headers={"Cache-Control": caching})
    response = web.Response(
        text=text, content_type="text/css", charset="utf-8", headers={"Cache-Control": caching}
    )
    response.etag = etag
    response.enable_compression()
    return response


@lru_cache(maxsize=32)
def _build_sheet(dark: str, light: str, is_plain: bool) -> tuple[str, str]:
    dark_rules, light_rules = _theme_rules("dark", dark), _theme_rules("light", light)
    select: Callable[[Rules], Rules] = _without_code_colors if is_plain else dict
    text = "\n".join(
        [
            "/* Made by Spinney from its themes. */",
            *_scope_both(select(light_rules), select(dark_rules)),
            "@media (prefers-contrast: more) {",
            *_scope_both(
                select(increase_contrast(light_rules)), select(increase_contrast(dark_rules))
            ),
            "}",
            *([] if is_plain else token_rules()),
            "",
        ]
    )
    return text, hashlib.sha256(text.encode()).hexdigest()[:32]


def _scope_both(light: Rules, dark: Rules) -> list[str]:
    """Scope each separately, so that a property missing in one is not set by the other."""
    sheet = []
    for kind, rules in (("light", light), ("dark", dark)):
        sheet += [f"@media (prefers-color-scheme: {kind}) {{"]
        sheet += _scope_rules(rules, ":root:not([data-theme])")
        sheet += ["}", *_scope_rules(rules, f':root[data-theme="{kind}"]')]
    return sheet


def _theme_rules(kind: loader.Kind, syntax: str) -> dict[str, Mapping[str, str]]:
    theme = loader.load_syntax_theme(syntax)
    return {
        "": {"color-scheme": kind, **custom_properties(loader.load_chrome(kind), theme)},
        " .added": diff_properties(theme, "inserted"),
        " .removed": diff_properties(theme, "deleted"),
        " .added .word": word_properties(theme, "inserted"),
        " .removed .word": word_properties(theme, "deleted"),
    }


def _without_code_colors(rules: Rules) -> Rules:
    """Omit the colors of code, except its background and foreground."""
    return {"": {name: value for name, value in rules[""].items() if _NOT_CODE_COLOR.match(name)}}


def _scope_rules(rules: Rules, scope: str) -> list[str]:
    sheet = []
    for selector, properties in rules.items():
        body = " ".join(f"{name}: {value};" for name, value in properties.items())
        sheet.append(f"{scope}{selector} {{ {body} }}")
    return sheet
