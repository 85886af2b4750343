"""More contrast, for whoever asks their device for it: colours keep their hue and come forward."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from themes.contrast import readable

MORE: Final = 7.0
"""The ratio that text has then (WCAG 2.2, level AAA)."""
EDGES: Final = 4.5

Rules = Mapping[str, Mapping[str, str]]
"""Custom properties by where they hold: "" is everywhere, ` .added` and the like are parts."""

_GROUNDS: Final = ("--ui-background", "--ui-surface", "--ui-panel", "--ui-overlay")
_TEXT: Final = ("text", "text-muted", "text-faint", "accent", "accent-text", "link")
_STATES: Final = ("success", "warning", "error", "info", "merged")
_EDGES: Final = ("border", "border-strong", "focus")
_CODE: Final = re.compile(r"--(code-(foreground|faint|sign)|tok-[a-z-]+)")


def sharper(rules: Rules) -> dict[str, dict[str, str]]:
    """What of these properties must be another one for more contrast, by where it holds."""
    usual = rules[""]
    grounds = (usual["--code-background"], usual["--code-line-highlight"])
    found = {"": dict(_chrome(usual)) | _moved(usual, dict(_code(usual, *grounds)))}
    for where, own in rules.items():
        if not where:
            continue
        outer = _outer(where, rules)
        there = {**usual, **rules.get(outer, {}), **own}
        shown = {**usual, **found[""], **rules.get(outer, {}), **found.get(outer, {}), **own}
        found[where] = _moved(shown, dict(_code(there, own["--code-side"])))
    return found


def _outer(where: str, rules: Rules) -> str:
    """The part in which this one stands, such as ` .added` of ` .added .word`; "" for none."""
    around = where.rpartition(" ")[0]
    return around if around in rules else ""


def _chrome(usual: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    grounds = tuple(usual[name] for name in _GROUNDS)
    for role in _TEXT:
        yield f"--ui-{role}", readable(usual[f"--ui-{role}"], *grounds, ratio=MORE)
    for role in _STATES:
        own = usual[f"--ui-{role}-muted"]
        yield f"--ui-{role}", readable(usual[f"--ui-{role}"], own, *grounds, ratio=MORE)
    for role in _EDGES:
        yield f"--ui-{role}", readable(usual[f"--ui-{role}"], *grounds, ratio=EDGES)


def _code(there: Mapping[str, str], *grounds: str) -> Iterator[tuple[str, str]]:
    for name, color in there.items():
        if color.startswith("#") and _CODE.fullmatch(name) and not name.endswith("-ground"):
            under = there.get(f"{name}-ground")
            yield name, readable(color, *([under] if under else grounds), ratio=MORE)


def _moved(shown: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, str]:
    return {name: color for name, color in wanted.items() if shown.get(name) != color}
