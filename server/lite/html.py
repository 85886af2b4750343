"""HTML elements: all texts and attribute values are escaped when they are rendered.

Names of elements and attributes come from the code only. URL attributes are omitted unless they
are a path of this server or start with `http:`, `https:` or `mailto:`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from model.base.text import make_visible

_VOID: Final = frozenset({"br", "hr", "input", "link", "meta"})
_URL_ATTRIBUTES: Final = frozenset({"href", "action"})
_SAFE_URL: Final = re.compile(r"(?:https?:|mailto:|/(?![/\\])|[#?])", re.IGNORECASE)
_OWN_LINE: Final = frozenset({
    "article", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "label", "li", "main", "p",
    "pre", "section", "title", "tr", "ul",
})  # fmt: skip
"""Elements followed by a line break, so that the source is readable."""

_DROPS_FIRST_BREAK: Final = frozenset({"pre", "textarea"})
"""HTML parsers drop a line break directly after these start tags, so one is added."""


@dataclass(frozen=True, slots=True)
class Element:
    """An element with its children; use `make` to create one."""

    name: str
    attributes: dict[str, str | int | bool | None]
    children: "Node"


Node: TypeAlias = "Element | str | Iterable[Node] | None"


def make(name: str, /, *children: Node, **attributes: str | int | bool | None) -> Element:
    """Create an element; `class_` and `http_equiv` become `class` and `http-equiv`."""
    return Element(name, attributes, tuple(map(_freeze, children)))


def _freeze(node: Node) -> Node:
    """Replace iterators by tuples, which can be rendered more than once."""
    return node if node is None or isinstance(node, str | Element) else tuple(map(_freeze, node))


def to_html(node: Node) -> str:
    """The HTML of a node."""
    output: list[str] = []
    _render(node, output)
    return "".join(output)


def size(node: Node) -> int:
    """The size of a node's HTML in bytes."""
    return len(to_html(node).encode())


def truncate(text: str, limit: int) -> str:
    """Cut the text to at most `limit` bytes of HTML."""
    text = text[:limit]
    while size(text) > limit:
        text = text[: len(text) * limit // size(text)]
    return text


def _render(node: Node, output: list[str]) -> None:
    if node is None:
        return
    if isinstance(node, str):
        output.append(_escape(node))
        return
    if not isinstance(node, Element):
        for child in node:
            _render(child, output)
        return
    attributes = "".join(_render_attribute(name, value) for name, value in node.attributes.items())
    output.append(f"<{node.name}{attributes}>")
    if node.name in _VOID:
        return
    if node.name in _DROPS_FIRST_BREAK:
        output.append("\n")
    _render(node.children, output)
    output.append(f"</{node.name}>\n" if node.name in _OWN_LINE else f"</{node.name}>")


def _render_attribute(name: str, value: str | int | bool | None) -> str:
    name = name.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    if name in _URL_ATTRIBUTES and not _SAFE_URL.match(str(value)):
        return ""
    return f' {name}="{_escape(str(value)).replace(chr(34), "&quot;")}"'


def _escape(text: str) -> str:
    return make_visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
