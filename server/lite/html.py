"""HTML from elements: every text and attribute is escaped when it is written, none is trusted.

Names of elements and attributes come from the code alone. What leads somewhere is left out unless
it is a place of this server or `http:`, `https:` or `mailto:`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from model.base.text import make_visible

_VOID: Final = frozenset({"br", "hr", "input", "link", "meta"})
_LEADS: Final = frozenset({"href", "action"})
_ALLOWED: Final = re.compile(r"(?:https?:|mailto:|/(?![/\\])|[#?])", re.IGNORECASE)
_LINES: Final = frozenset({
    "article", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "label", "li", "main", "p",
    "pre", "section", "title", "tr", "ul",
})  # fmt: skip
"""What stands on lines of its own, for those who read the source."""

_KEEPS_FIRST_BREAK: Final = frozenset({"pre", "textarea"})
"""Readers of HTML drop one line break after these; so one is written for them."""


@dataclass(frozen=True, slots=True)
class Element:
    """An element with its children; made by `make`."""

    name: str
    attributes: dict[str, str | int | bool | None]
    children: "Node"


Node: TypeAlias = "Element | str | Iterable[Node] | None"


def make(name: str, /, *children: Node, **attributes: str | int | bool | None) -> Element:
    """An element; `class_` and `http_equiv` are attributes that Python cannot spell."""
    return Element(name, attributes, tuple(map(_kept, children)))


def _kept(node: Node) -> Node:
    """What can be written more than once."""
    return node if node is None or isinstance(node, str | Element) else tuple(map(_kept, node))


def write(node: Node) -> str:
    """The HTML of it."""
    written: list[str] = []
    _write(node, written)
    return "".join(written)


def size(node: Node) -> int:
    """Bytes of its HTML."""
    return len(write(node).encode())


def fitting(text: str, room: int) -> str:
    """As much of the beginning as is no longer than `room` bytes of HTML."""
    text = text[:room]
    while size(text) > room:
        text = text[: len(text) * room // size(text)]
    return text


def _write(node: Node, written: list[str]) -> None:
    if node is None:
        return
    if isinstance(node, str):
        written.append(_escaped(node))
        return
    if not isinstance(node, Element):
        for child in node:
            _write(child, written)
        return
    attributes = "".join(_attribute(name, value) for name, value in node.attributes.items())
    written.append(f"<{node.name}{attributes}>")
    if node.name in _VOID:
        return
    if node.name in _KEEPS_FIRST_BREAK:
        written.append("\n")
    _write(node.children, written)
    written.append(f"</{node.name}>\n" if node.name in _LINES else f"</{node.name}>")


def _attribute(name: str, value: str | int | bool | None) -> str:
    name = name.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    if name in _LEADS and not _ALLOWED.match(str(value)):
        return ""
    return f' {name}="{_escaped(str(value)).replace(chr(34), "&quot;")}"'


def _escaped(text: str) -> str:
    return make_visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
