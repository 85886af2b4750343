"""Reads the visible content of the page, and finds faults in its layout."""

import json
from dataclasses import dataclass
from typing import Any, Final

from tests.journeys.ledger import strings

READ_PAGE: Final = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });
  const texts = (elements) => elements.map((element) => element.textContent);
  const scroller = document.querySelector(".transcript");
  const below = scroller && scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
  const kept = Object.fromEntries(Object.entries(localStorage));
  return {
    address: location.hash,
    link: document.getElementById("link")?.dataset.state ?? "",
    needs: all("#needs").filter(isShown).map((link) => parseInt(link.textContent, 10))[0] ?? 0,
    tree: Object.fromEntries(all("#tree .row[data-session]").map((row) => [
      row.dataset.session,
      [row.querySelector("a").title.split("\\n").at(-1), row.querySelector(".mark").dataset.mark],
    ])),
    needed: all(".waiting-item").map((card) => card.dataset.key),
    messages: all(".messages .message").map((one) => [one.id.slice(2), one.textContent]),
    queue: texts(all(".queue li")),
    requests: all(".session-end .request").length,
    pulses: all(".pulse").length,
    live: texts(all(".live:not([hidden])")),
    results: texts(all(".tool .output")),
    stop: all(".composer .stop").filter(isShown).length > 0,
    mode: document.querySelector("select.mode")?.value ?? "",
    box: document.querySelector(".composer textarea")?.value ?? "",
    fields: all("input, textarea").map((field) => field.value),
    kept,
    is_below: below > 80,
    toasts: texts(all(".toast span")),
    dialogs: all("dialog[open]").length,
    is_drawer_open: document.body.classList.contains("drawer"),
  };
}"""
"""JavaScript function that returns the fields of `PageView`."""

FIND_FAULTS: Final = r"""() => {
  const faults = [];
  const [width, height] = [document.documentElement.clientWidth, innerHeight];
  const cut = (a, b) => ({
    left: Math.max(a.left, b.left), top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
  });
  const sizeOf = (rect) => (rect.right - rect.left) * (rect.bottom - rect.top);
  const isSomething = (rect) => rect.right - rect.left >= 3 && rect.bottom - rect.top >= 3;
  const named = (element) => `<${element.localName} ${element.className || element.id}> “${
    (element.ariaLabel || element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 60)}”`;
  const isShown = (element) =>
    element.checkVisibility({
      visibilityProperty: true,
      opacityProperty: true,
      contentVisibilityAuto: true,  // An element that is not drawn keeps its old position.
    });
  /** The part of a rectangle that no ancestor clips. */
  const seen = (rect, element) => {
    let left = cut(rect, { left: 0, top: 0, right: width, bottom: height });
    let from = "static";
    for (let each = element; each && each !== document.body; each = each.parentElement) {
      const style = getComputedStyle(each);
      const holds = from === "static" || (from === "absolute" && style.position !== "static");
      if (holds && style.overflow !== "visible" && style.display !== "inline") {
        left = cut(left, each.getBoundingClientRect());
      }
      if (from === "absolute" && style.position !== "static") from = "static";
      if (style.position === "fixed") break;
      if (style.position === "absolute") from = "absolute";
    }
    return left;
  };
  /** The positioned ancestor with an opaque background that covers other content. */
  const layerOf = (element) => {
    let isOpaque = false;
    for (let each = element; each && each !== document.body; each = each.parentElement) {
      const { position, backgroundColor } = getComputedStyle(each);
      isOpaque ||= !/, 0\)$|^transparent$/.test(backgroundColor);
      if (isOpaque && ["absolute", "fixed", "sticky"].includes(position)) return each;
    }
    return element.closest("dialog, #toasts");
  };
  const isOver = document.querySelector("dialog[open], body.drawer") !== null;

  if (document.documentElement.scrollWidth > width) faults.push("the page moves sideways");
  for (const part of document.querySelectorAll(".transcript, #content")) {
    if (part.scrollWidth > part.clientWidth + 1) faults.push(`${named(part)} moves sideways`);
  }

  const found = document.querySelectorAll(
    "#bar :is(a, button), .top :is(a, button), .composer :is(textarea, select, button)");
  const controls = [...found].filter(isShown);
  const boxes = [];
  for (const control of controls) {
    const rect = control.getBoundingClientRect();
    const left = seen(rect, control);
    if (control.matches("#menu, .more, textarea, .stop, .primary, .mode")) {
      const share = sizeOf(left) / sizeOf(rect);
      if (!(share > 0.9) || !isSomething(left)) faults.push(`${named(control)} is cut off`);
    }
    if (!isSomething(left)) continue;
    boxes.push({ element: control, rect: left });
    const [x, y] = [(left.left + left.right) / 2, (left.top + left.bottom) / 2];
    const top = document.elementFromPoint(x, y);
    const isFree = top && (control.contains(top) || top.contains(control));
    if (!isOver && !isFree) faults.push(`${named(control)} lies under ${top ? named(top) : "?"}`);
  }

  const UNPAINTED = "script, style, option, noscript";
  const lines = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    if (!node.data.trim() || element.closest(UNPAINTED) || !isShown(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const layer = layerOf(element);
    for (const rect of range.getClientRects()) {
      const left = seen(rect, element);
      if (isSomething(left)) lines.push({ element, layer, rect: left });
    }
  }
  const overlap = (a, b) => {
    const both = cut(a, b);
    const least = Math.min(a.bottom - a.top, b.bottom - b.top);
    return both.right - both.left > 4 && both.bottom - both.top > 0.5 * least;
  };
  const areOne = (a, b) => a === b || a.contains(b) || b.contains(a);
  for (const [at, one] of lines.entries()) {
    for (const other of lines.slice(at + 1)) {
      const areBeside = one.layer === other.layer && !areOne(one.element, other.element);
      if (areBeside && overlap(one.rect, other.rect)) {
        faults.push(`${named(one.element)} is painted over ${named(other.element)}`);
      }
    }
    for (const { element, rect } of boxes) {
      if (!one.layer && !element.contains(one.element) && overlap(one.rect, rect)) {
        faults.push(`${named(one.element)} is painted over ${named(element)}`);
      }
    }
    const button = one.element.closest("button, .button");
    const edge = button?.getBoundingClientRect();
    if (edge && (one.rect.left < edge.left - 1 || one.rect.right > edge.right + 1)) {
      faults.push(`${named(button)} does not hold its words`);
    }
  }
  return [...new Set(faults)].slice(0, 6);
}"""
"""JavaScript function that describes overlapping, clipped and overflowing elements."""


@dataclass(frozen=True)
class PageView:
    """The content of the page at one moment."""

    address: str
    link: str
    """State of the connection."""
    needs: int
    """Number of sessions that need the user, as shown in the bar."""
    tree: dict[str, tuple[str, str]]
    """Names and status marks of the sessions in the tree, by id."""
    needed: list[str]
    """Ids of the sessions listed under “Needs you”."""
    messages: list[tuple[str, str]]
    """Ids and texts of the messages in the conversation."""
    queue: list[str]
    requests: int
    pulses: int
    """Number of indicators of a running answer."""
    live: list[str]
    """Output of running commands."""
    results: list[str]
    """Output of finished commands that are expanded."""
    stop: bool
    """Whether there is a stop button."""
    mode: str
    box: str
    """Text in the message box."""
    fields: list[str]
    """Texts in all input fields."""
    kept: dict[str, str]
    """The page's local storage."""
    is_below: bool
    """Whether the conversation continues below the visible part."""
    toasts: list[str]
    dialogs: int
    is_drawer_open: bool

    @classmethod
    def of(cls, values: dict[str, Any]) -> "PageView":
        rows = {key: (row[0], row[1]) for key, row in values.pop("tree").items()}
        messages = [(item[0], item[1]) for item in values.pop("messages")]
        return cls(tree=rows, messages=messages, **values)

    @property
    def session_id(self) -> str:
        """The session id in the address; empty if it has none."""
        path = self.address.partition("?")[0].split("/")
        return path[2] if path[1:2] == ["session"] and len(path) > 2 else ""

    @property
    def texts(self) -> list[str]:
        """All texts in input fields and in local storage."""
        return [*self.fields, *(text for value in self.kept.values() for text in _texts_in(value))]


def _texts_in(value: str) -> list[str]:
    try:
        return [value, *strings(json.loads(value))]
    except ValueError:
        return [value]
