"""What the transcript and its layout both speak of: looks, parts and laid-out messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

from rich.style import Style
from textual.strip import Strip

from model.agents.catalog import BUILT_IN, Catalog
from model.domain.resources import Block, Message, Request
from themes.loader import Kind, load_chrome
from tui.draw.colors import ASCII, Palette
from tui.transcript.packed_rows import Joined
from tui.transcript.streaming import GrowingText

CLOSED: Final = 0
OPEN: Final = 1
ALL: Final = 2
"""How far a part is opened: its one line, what fits a glance, everything."""

CUT: Final = 12
"""Rows of long output that are shown before somebody asks for all."""

BODY: Final = 3
"""Cells before the body of a message."""

Folds = Mapping[int, int]
"""What a person opened or closed in one message: levels by part."""

NO_FOLDS: Final[Folds] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Tones:
    """Styles for what a message says of itself, beside those that its text is drawn with."""

    strong: Style
    accent: Style
    success: Style
    warning: Style
    error: Style
    news: Style
    """The mark over the last row."""
    selected: Style


@lru_cache
def tones(kind: Kind) -> Tones:
    """The tones of our chrome."""
    ui = load_chrome(kind).ui
    return Tones(
        strong=Style(color=ui["text"], bold=True),
        accent=Style(color=ui["accent_text"]),
        success=Style(color=ui["success"]),
        warning=Style(color=ui["warning"]),
        error=Style(color=ui["error"]),
        news=Style(color=ui["on_accent"], bgcolor=ui["accent"]),
        selected=Style(color=ui["on_selection"], bgcolor=ui["selection"]),
    )


@dataclass(frozen=True, slots=True)
class Signs:
    """The transcript's marks; one cell each, in both sets."""

    closed: str = "▸"
    open: str = "▾"
    running: str = "◌"
    failed: str = "✗"
    done: str = "✓"
    chosen: str = "●"
    choice: str = "○"
    stopped: str = "■"
    bar: str = "│"
    cursor: str = "▌"
    down: str = "↓"
    dot: str = "·"
    minus: str = "−"
    corners: str = "┌┐└┘─"


_FINE: Final = Signs()
_ASCII: Final = Signs(">", "v", "~", "x", "+", "*", "o", "#", "|", "|", "v", "-", "-", "++++-")


@dataclass(frozen=True, slots=True)
class Look:
    """Everything but the messages themselves that decides how they are drawn."""

    width: int
    palette: Palette
    root: str = ""
    """The worktree's path; paths in it are shown without it."""
    catalog: Catalog = BUILT_IN

    @property
    def body_width(self) -> int:
        """Cells for the body of a message, with one left free at the right."""
        return max(self.width - BODY - 1, 8)

    @property
    def tones(self) -> Tones:
        """The styles beside those of text."""
        return tones(self.palette.kind)

    @property
    def signs(self) -> Signs:
        """The marks, plain ones where the palette has plain ones."""
        return _ASCII if self.palette.marks is ASCII else _FINE

    def with_width(self, width: int) -> "Look":
        """The same in another width."""
        return replace(self, width=width)

    def path(self, path: str) -> str:
        """The path as a person knows it: relative inside the worktree."""
        return path.removeprefix(f"{self.root.rstrip('/')}/") if self.root else path


@dataclass(slots=True)
class Part:
    """A piece of a message on which the cursor can stand."""

    key: int
    """The place of its block in the message, or a negative number for what is no block."""
    strips: Sequence[Strip]
    made_from: tuple[Any, ...]
    """What it was laid out from; the same again needs no work."""
    block: Block | None = None
    level: int | None = None
    """How far it is open; `None` for what does not fold."""
    is_cut: bool = False
    """Whether more is shown at the next level."""
    growing: GrowingText | None = None
    """The state of streamed Markdown."""

    @property
    def next_level(self) -> int | None:
        """The level after the next press of the key that opens."""
        if self.level is None:
            return None
        if self.level == CLOSED:
            return OPEN
        return ALL if self.is_cut else CLOSED


@dataclass(frozen=True, slots=True)
class Shown:
    """A message and what decides how it is laid out."""

    message: Message
    look: Look
    folds: Folds = field(default_factory=lambda: NO_FOLDS)
    request: Request | None = None
    """What the message needs a person for."""

    def same(self, other: "Shown") -> bool:
        """Whether both are laid out alike."""
        return (
            self.message is other.message
            and self.look is other.look
            and self.folds is other.folds
            and self.request == other.request
        )


@dataclass(slots=True)
class LaidOut:
    """A message as rows."""

    shown: Shown
    parts: list[Part]
    strips: Sequence[Strip] = field(init=False)
    """All rows, those of the parts one after another."""
    starts: list[int] = field(init=False)
    """The first row of each part."""

    def __post_init__(self) -> None:
        self.strips = Joined(part.strips for part in self.parts)
        self.starts = list(accumulate((len(part.strips) for part in self.parts), initial=0))[:-1]

    def part_at(self, row: int) -> int:
        """The index of the part that the row belongs to."""
        index = len(self.starts) - 1
        while index and self.starts[index] > row:
            index -= 1
        return index

    def part_of(self, key: int) -> int | None:
        """The index of the part with this key."""
        return next((at for at, part in enumerate(self.parts) if part.key == key), None)
