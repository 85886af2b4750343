"""Colors for `prefers-contrast: more`: they keep their hue and get more contrast."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from themes.contrast import readable

TEXT_RATIO: Final = 7.0
"""The contrast ratio of text (WCAG 2.2, level AAA)."""
BORDER_RATIO: Final = 4.5

Rules = Mapping[str, Mapping[str, str]]
"""Custom properties by selector: "" applies everywhere, ` .added` and the like to parts."""

_BACKGROUNDS: Final = ("--ui-background", "--ui-surface", "--ui-panel", "--ui-overlay")
_TEXT: Final = ("text", "text-muted", "text-faint", "accent", "accent-text", "link")
_STATES: Final = ("success", "warning", "error", "info", "merged")
_BORDERS: Final = ("border", "border-strong", "focus")
_CODE: Final = re.compile(r"--(code-(foreground|faint|sign)|tok-[a-z-]+)")


def sharper(rules: Rules) -> dict[str, dict[str, str]]:
    """The properties that must change for more contrast, by selector."""
    base = rules[""]
    backgrounds = (base["--code-background"], base["--code-line-highlight"])
    changes = {"": dict(_chrome(base)) | _differing(base, dict(_code(base, *backgrounds)))}
    for selector, own in rules.items():
        if not selector:
            continue
        outer = _outer(selector, rules)
        normal = {**base, **rules.get(outer, {}), **own}
        cascaded = {**base, **changes[""], **rules.get(outer, {}), **changes.get(outer, {}), **own}
        changes[selector] = _differing(cascaded, dict(_code(normal, own["--code-side"])))
    return changes


def _outer(selector: str, rules: Rules) -> str:
    """The selector of the enclosing part, such as ` .added` of ` .added .word`; "" for none."""
    outer = selector.rpartition(" ")[0]
    return outer if outer in rules else ""


def _chrome(base: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    backgrounds = tuple(base[name] for name in _BACKGROUNDS)
    for role in _TEXT:
        yield f"--ui-{role}", readable(base[f"--ui-{role}"], *backgrounds, ratio=TEXT_RATIO)
    for role in _STATES:
        own = base[f"--ui-{role}-muted"]
        yield f"--ui-{role}", readable(base[f"--ui-{role}"], own, *backgrounds, ratio=TEXT_RATIO)
    for role in _BORDERS:
        yield f"--ui-{role}", readable(base[f"--ui-{role}"], *backgrounds, ratio=BORDER_RATIO)


def _code(properties: Mapping[str, str], *backgrounds: str) -> Iterator[tuple[str, str]]:
    for name, color in properties.items():
        if color.startswith("#") and _CODE.fullmatch(name) and not name.endswith("-ground"):
            own = properties.get(f"{name}-ground")
            yield name, readable(color, *([own] if own else backgrounds), ratio=TEXT_RATIO)


def _differing(current: Mapping[str, str], required: Mapping[str, str]) -> dict[str, str]:
    return {name: color for name, color in required.items() if current.get(name) != color}
