"""Data types of the transcript: render context, parts of messages and message layouts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

from rich.style import Style
from textual.strip import Strip

from model.agents.catalog import BUILT_IN, Catalog
from model.domain.messages import Block, Message
from model.domain.requests import Request
from model.domain.turns import TurnFile
from themes.loader import Kind, load_chrome
from tui.draw.colors import ASCII_GLYPHS, Palette
from tui.transcript.packed_rows import ConcatenatedRows
from tui.transcript.streaming import GrowingText

CLOSED: Final = 0
OPEN: Final = 1
ALL: Final = 2
"""Expansion levels of a part: one line, a preview, everything."""

PREVIEW_ROWS: Final = 12
"""Rows of long output that a preview shows."""

BODY_INDENT: Final = 3
"""Indentation of a message's body in cells."""

ExpansionState = Mapping[int, int]
"""The levels that the user has set in one message, by part key."""

NO_EXPANSION: Final[ExpansionState] = {}
NO_KEYS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Styles:
    """Styles of a message's header, notices and marks; those of its text are in the palette."""

    strong: Style
    accent: Style
    success: Style
    warning: Style
    error: Style
    news: Style
    """The label on the last row about new messages."""
    selected: Style


@lru_cache
def get_styles(kind: Kind) -> Styles:
    """The styles for the dark or light chrome."""
    ui = load_chrome(kind).ui
    return Styles(
        strong=Style(color=ui["text"], bold=True),
        accent=Style(color=ui["accent_text"]),
        success=Style(color=ui["success"]),
        warning=Style(color=ui["warning"]),
        error=Style(color=ui["error"]),
        news=Style(color=ui["on_accent"], bgcolor=ui["accent"]),
        selected=Style(color=ui["on_selection"], bgcolor=ui["selection"]),
    )


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The transcript's glyphs, one cell each."""

    closed: str = "▸"
    open: str = "▾"
    running: str = "◌"
    failed: str = "✗"
    done: str = "✓"
    chosen: str = "●"
    choice: str = "○"
    stopped: str = "■"
    bar: str = "│"
    heavy_bar: str = "┃"
    cursor: str = "▌"
    down: str = "↓"
    dot: str = "·"
    minus: str = "−"
    block: str = "▪"


_UNICODE_GLYPHS: Final = Glyphs()
_ASCII_GLYPHS: Final = Glyphs(
    ">", "v", "~", "x", "+", "*", "o", "#", "|", "|", "|", "v", "-", "-", "#"
)


@dataclass(frozen=True, slots=True)
class RenderContext:
    """Everything besides the messages that determines how they are drawn."""

    width: int
    palette: Palette
    root: str = ""
    """The worktree's path; paths inside it are shown relative to it."""
    catalog: Catalog = BUILT_IN
    keys: Mapping[str, str] = field(default_factory=lambda: NO_KEYS, compare=False)
    """The actions that the change card offers, and their keys as displayed, often none."""

    @property
    def body_width(self) -> int:
        """Width of a message's body in cells; one cell at the right stays free."""
        return max(self.width - BODY_INDENT - 1, 8)

    @property
    def styles(self) -> Styles:
        """The styles that are not in the palette."""
        return get_styles(self.palette.kind)

    @property
    def glyphs(self) -> Glyphs:
        """The glyphs, ASCII if the palette's are ASCII."""
        return _ASCII_GLYPHS if self.palette.glyphs is ASCII_GLYPHS else _UNICODE_GLYPHS

    def with_width(self, width: int) -> "RenderContext":
        """A copy with another width."""
        return replace(self, width=width)

    def path(self, path: str) -> str:
        """The path for display: relative if it is inside the worktree."""
        return path.removeprefix(f"{self.root.rstrip('/')}/") if self.root else path


@dataclass(slots=True)
class Part:
    """A piece of a message that the cursor can be on."""

    key: int
    """The index of its block in the message, or a negative number if it is not a block."""
    strips: Sequence[Strip]
    cache_key: tuple[Any, ...]
    """The inputs of its layout; it is reused while they are the same objects."""
    block: Block | None = None
    level: int | None = None
    """Its expansion level; `None` if it cannot be collapsed."""
    has_more: bool = False
    """Whether the next level shows more."""
    growing: GrowingText | None = None
    """The state of streamed Markdown, while the message is running."""

    @property
    def next_level(self) -> int | None:
        """The level after the next toggle."""
        if self.level is None:
            return None
        if self.level == CLOSED:
            return OPEN
        return ALL if self.has_more else CLOSED


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the messages before and after a message contribute to its layout."""

    day: str = ""
    """The date to show above it, where a new day begins."""
    introduces: bool = True
    """Whether agent, model or mode differ from the previous answer's."""
    is_last: bool = False
    """Whether no message follows, apart from rewound ones."""
    rewound: int = 0
    """The number of rewound messages that begin with it; 0 if it is not the first of them."""
    is_folded: bool = False
    """Whether it is hidden in the line that stands for these."""
    files: tuple[TurnFile, ...] = ()
    """What the turn changed that ends with it, as far as it was recorded."""


@dataclass(frozen=True, slots=True)
class LayoutInput:
    """A message and everything that determines its layout."""

    message: Message
    context: RenderContext
    expansion_state: ExpansionState = field(default_factory=lambda: NO_EXPANSION)
    request: Request | None = None
    """The request of this message that waits for the user."""
    around: Surroundings = field(default_factory=Surroundings)

    def is_same_as(self, other: "LayoutInput") -> bool:
        """Whether both have the same layout."""
        return (
            self.message is other.message
            and self.context is other.context
            and self.expansion_state is other.expansion_state
            and self.request == other.request
            and self.around == other.around
        )


@dataclass(slots=True)
class MessageLayout:
    """A message laid out as rows."""

    source: LayoutInput
    parts: list[Part]
    strips: Sequence[Strip] = field(init=False)
    """The rows of all parts."""
    starts: list[int] = field(init=False)
    """The first row of each part."""

    def __post_init__(self) -> None:
        self.strips = ConcatenatedRows(part.strips for part in self.parts)
        self.starts = list(accumulate((len(part.strips) for part in self.parts), initial=0))[:-1]

    def index_at(self, row: int) -> int:
        """The index of the part that contains the row."""
        index = len(self.starts) - 1
        while index and self.starts[index] > row:
            index -= 1
        return index

    def index_of(self, key: int) -> int | None:
        """The index of the part with this key."""
        return next((at for at, part in enumerate(self.parts) if part.key == key), None)
