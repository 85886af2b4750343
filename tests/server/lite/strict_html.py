"""A strict HTML parser: every element must be known, closed, and properly nested."""

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "hr", "input", "link", "meta"}

ATTRIBUTES = {
    "a": {"href", "rel"},
    "article": {"class", "id"},
    "b": {"class"},
    "blockquote": set(),
    "body": set(),
    "br": set(),
    "button": {"class", "name", "value"},
    "code": set(),
    "details": {"class"},
    "fieldset": set(),
    "footer": set(),
    "form": {"action", "method"},
    "h1": set(), "h2": set(), "h3": set(), "h4": set(), "h5": set(), "h6": set(),
    "head": set(),
    "header": set(),
    "hr": set(),
    "html": {"data-theme", "lang"},
    "i": set(),
    "input": {"autocomplete", "checked", "id", "name", "required", "type", "value"},
    "label": {"for"},
    "legend": set(),
    "li": set(),
    "link": {"href", "rel", "type"},
    "main": set(),
    "meta": {"charset", "content", "http-equiv", "name"},
    "nav": {"aria-label"},
    "ol": {"class", "start"},
    "option": {"selected", "value"},
    "p": {"class", "id", "role"},
    "pre": {"tabindex"},
    "s": set(),
    "section": {"class", "id"},
    "select": {"id", "name"},
    "small": set(),
    "span": {"class"},
    "summary": set(),
    "table": set(), "tbody": set(), "td": set(), "th": set(), "thead": set(), "tr": set(),
    "textarea": {"cols", "id", "name", "readonly", "rows"},
    "time": set(),
    "title": set(),
    "ul": {"class"},
}  # fmt: skip
"""The elements that a page of `/lite` may have, with their attributes: only style sheets and the
icon are loaded."""

CLOSES_A_PARAGRAPH = {
    "article", "blockquote", "details", "fieldset", "footer", "form", "h1", "h2", "h3", "h4", "h5",
    "h6", "header", "hr", "main", "nav", "ol", "p", "pre", "section", "table", "ul",
}  # fmt: skip

ONLY_IN = {
    "li": {"ol", "ul"},
    "option": {"select"},
    "legend": {"fieldset"},
    "td": {"tr"},
    "th": {"tr"},
    "tr": {"thead", "tbody"},
    "main": {"body"},
    "summary": {"details"},
}


@dataclass
class Form:
    """A form of a page."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    values: list[tuple[str, str]] = field(default_factory=list)
    """Of all its fields; a name can have several."""
    buttons: list[tuple[str, str]] = field(default_factory=list)


class StrictPage(HTMLParser):
    """A page: its elements, ids, links and text; fails on invalid HTML."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = page
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.forms: list[Form] = []
        self.text = ""
        self._field: str | None = None
        self._open: list[str] = []
        assert page.startswith("<!doctype html>\n<html "), page[:80]
        self.feed(page)
        self.close()
        assert not self._open, self._open
        ids = Counter(attributes["id"] for _, attributes in self.elements if "id" in attributes)
        assert all(count == 1 for count in ids.values()), ids
        self.ids = set(ids)
        for name, attributes in self.elements:
            if name == "label" and "for" in attributes:
                assert attributes["for"] in self.ids, attributes
        assert sum(name == "h1" for name, _ in self.elements) == 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        assert len(attributes) == len(attrs), (tag, attrs)
        assert tag in ATTRIBUTES, tag
        assert attributes.keys() <= ATTRIBUTES[tag], (tag, attributes)
        assert tag not in ONLY_IN or self._open[-1] in ONLY_IN[tag], (tag, self._open)
        if tag in CLOSES_A_PARAGRAPH:
            assert not {"p", "h1", "h2", "h3", "a", "b"} & set(self._open), (tag, self._open)
        if tag in ("a", "button", "form"):
            assert tag not in self._open, (tag, self._open)
        for name in ("href", "action"):
            if name in attributes:
                assert is_safe(attributes[name] or ""), attributes[name]
        self._record_field(tag, attributes)
        self.elements.append((tag, attributes))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open.pop() == tag, (tag, self.source[-300:])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"<{tag}/>")

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._open[-1:] == ["textarea"] and self._field is not None:
            self.forms[-1].fields[self._field] = data.removeprefix("\n")

    def _record_field(self, tag: str, attributes: dict[str, str | None]) -> None:
        """Record what a browser would submit of an unchanged form."""
        name, value = attributes.get("name"), attributes.get("value") or ""
        self.text += "\n" if tag == "br" else ""
        match tag:
            case "form":
                self.forms.append(Form(attributes["action"] or ""))
            case "input" if (
                attributes.get("type") in ("checkbox", "radio") and "checked" not in attributes
            ):
                pass
            case "input" | "textarea" if name and self.forms:
                self.forms[-1].fields[name] = value
                self.forms[-1].values.append((name, value))
                self._field = name
            case "textarea":
                self._field = None
            case "select":
                self._field = name
            case "option" if "selected" in attributes:
                self.forms[-1].fields[self._field or ""] = value
                self.forms[-1].values.append((self._field or "", value))
            case "button":
                self.forms[-1].buttons.append((name or "", value))
            case _:
                pass

    def all(self, name: str) -> list[dict[str, str | None]]:
        """The attributes of every element of this name."""
        return [attributes for tag, attributes in self.elements if tag == name]

    def values(self, name: str, *, checked: bool = False) -> list[str]:
        """The values of all fields of a name; with `checked` of those that are."""
        return [
            found.get("value") or ""
            for found in self.all("input")
            if found.get("name") == name and (not checked or "checked" in found)
        ]

    def links(self) -> dict[str, str]:
        """The address of each link by its text."""
        found = re.findall(r'<a href="([^"]*)"[^>]*>(.*?)</a>', self.source, re.DOTALL)
        return {words: address.replace("&amp;", "&") for address, words in found}

    def form(self, name: str) -> Form:
        """The first form whose path ends with this name."""
        return next(form for form in self.forms if form.action.endswith(f"/{name}"))

    def has_form(self, name: str) -> bool:
        """Whether there is such a form."""
        return any(form.action.endswith(f"/{name}") for form in self.forms)


def is_safe(address: str) -> bool:
    """Whether the address is on this server, or has a safe scheme."""
    is_own = address.startswith(("/", "#", "?")) and not address.startswith(("//", "/\\"))
    return is_own or address.lower().startswith(("http://", "https://", "mailto:"))
