"""The rows of a history: exact heights for messages that have been visible, else estimates.

Only visible messages are laid out, so opening a session costs the same for any length.
"""

from collections import OrderedDict
from typing import Final

from model.domain.messages import Message
from model.domain.requests import Request
from model.domain.turns import TurnFile
from tui.store.history import History
from tui.transcript.heights import Heights
from tui.transcript.layout import estimate_height, lay_out
from tui.transcript.message_edges import format_day
from tui.transcript.parts import (
    CLOSED,
    NO_EXPANSION,
    OPEN,
    ExpansionState,
    LayoutInput,
    MessageLayout,
    RenderContext,
    Surroundings,
)
from tui.transcript.rewound import FOLDED_ROWS, REWOUND, find_rewound

MAX_LAYOUTS: Final = 300
"""Message layouts that are cached."""
TALL_ROWS: Final = 1000
"""Messages with more rows are tall; an answer of 2 MB has 80,000 rows."""
MAX_TALL_LAYOUTS: Final = 2
"""Layouts of tall messages that are cached: more are never visible at once."""


_REACH: Final = 20
"""Messages before an answer among which the previous one is searched."""


def _begins_turn(message: Message) -> bool:
    return message.role == "user" and not message.steered


def _author(message: Message) -> tuple[str | None, str | None, str | None]:
    return message.backend, message.model, message.execution_mode


class HistoryRows:
    """Maps rows to the messages of a history, for one render context."""

    def __init__(
        self, history: History, context: RenderContext, expansion_states: dict[str, ExpansionState]
    ) -> None:
        self.history = history
        self.context = context
        self.layouts = 0
        """The number of layouts computed so far."""
        self._expansion_states = expansion_states
        self._request: Request | None = None
        self._layouts: OrderedDict[str, MessageLayout] = OrderedDict()
        self._exact_heights: dict[str, tuple[Message, int]] = {}
        self._heights = Heights()
        self._rewound: dict[str, range] = {}
        """The indexes of the adjacent rewound messages that each rewound one is folded with."""
        self.update(0)

    @property
    def total(self) -> int:
        """The number of rows."""
        return self._heights.total

    def top(self, index: int) -> int:
        """The first row of a message."""
        return self._heights.top(index)

    def height(self, index: int) -> int:
        """The height of a message, exact or estimated."""
        return self._heights[index]

    def find(self, row: int) -> tuple[int, int]:
        """The index of the message that contains the row, and the row within the message."""
        index = self._heights.find(row)
        return index, row - self._heights.top(index)

    def messages_between(self, first: int, end: int) -> range:
        """The messages with rows in `first` (inclusive) to `end` (exclusive)."""
        if not len(self.history) or first >= end:
            return range(0)
        return range(self._heights.find(first), self._heights.find(end - 1) + 1)

    def is_exact(self, index: int) -> bool:
        """Whether the height of the message is exact."""
        return self._exact_height(index) is not None

    def get_layout(self, index: int) -> MessageLayout:
        """Return the layout of a message, computing it if needed; its height becomes exact."""
        message = self.history[index]
        layout_input = self._layout_input(index, message)
        cached = self._layouts.get(message.id)
        if cached is None or not cached.source.is_same_as(layout_input):
            cached = lay_out(layout_input, cached)
            self.layouts += 1
            self._layouts[message.id] = cached
            self._layouts.move_to_end(message.id)
            self._evict()
        self._layouts.move_to_end(message.id)
        height = len(cached.strips)
        if not self._is_hidden(index):
            self._exact_heights[message.id] = (message, height)
        self._heights[index] = height
        return cached

    def _evict(self) -> None:
        tall = [key for key, cached in self._layouts.items() if len(cached.strips) > TALL_ROWS]
        for key in tall[:-MAX_TALL_LAYOUTS]:
            del self._layouts[key]
        if len(self._layouts) > MAX_LAYOUTS:
            self._layouts.popitem(last=False)

    def update(self, first: int) -> None:
        """Update heights after messages from index `first` on were added or changed."""
        count = len(self.history)
        if first == 0:
            present = {message.id for message in self.history.messages}
            self._exact_heights = {
                key: exact for key, exact in self._exact_heights.items() if key in present
            }
            self._rewound = find_rewound(self.history.messages)
            self._heights = Heights(map(self._height, range(count)))
            return
        # The message before may have been the last one until now, which has more rows.
        last = first - 1
        while last and self.history[last].rewound:
            last -= 1
        self._exact_heights.pop(self.history[last].id, None)
        for index in range(first, len(self._heights)):
            self._heights[index] = self._height(index)
        for index in range(len(self._heights), count):
            self._heights.append(self._height(index))

    def set_context(self, context: RenderContext) -> None:
        """Use another render context; a new width resets all heights to estimates."""
        if context.width != self.context.width:
            self._exact_heights.clear()
        self.context = context
        self.update(0)

    def set_request(self, request: Request | None) -> None:
        """Set the request that waits for the user, or `None`."""
        affected = {r.message_id for r in (self._request, request) if r is not None}
        if request == self._request:
            return
        self._request = request
        for message_id in affected:
            self._exact_heights.pop(message_id, None)

    def set_level(self, index: int, key: int, level: int) -> None:
        """Set the expansion level of a part of a message."""
        message_id = self.history[index].id
        self._expansion_states[message_id] = {
            **self._expansion_states.get(message_id, NO_EXPANSION),
            key: level,
        }
        if key == REWOUND:
            for each in self._rewound.get(message_id, range(0)):
                self._exact_heights.pop(self.history[each].id, None)
                self._heights[each] = self._height(each)
        self.get_layout(index)

    def unfold(self, index: int) -> None:
        """Show a message that is folded with other rewound ones."""
        if self._is_folded(index):
            self.set_level(self._rewound[self.history[index].id].start, REWOUND, OPEN)

    def _is_folded(self, index: int) -> bool:
        folded = self._rewound.get(self.history[index].id)
        if folded is None:
            return False
        first = self.history[folded.start].id
        return self._expansion_states.get(first, NO_EXPANSION).get(REWOUND, CLOSED) == CLOSED

    def _is_hidden(self, index: int) -> bool:
        """Whether it has no rows: it is folded, and not the first one, which has their line."""
        return self._is_folded(index) and self._rewound[self.history[index].id].start != index

    def _shown_before(self, index: int) -> Message | None:
        """The nearest earlier message that is not folded."""
        indexes = (at for at in range(index - 1, -1, -1) if not self._is_folded(at))
        return next((self.history[at] for at in indexes), None)

    def _layout_input(self, index: int, message: Message) -> LayoutInput:
        expansion_states = self._expansion_states.get(message.id, NO_EXPANSION)
        session_request = self._request
        request = (
            session_request
            if session_request is not None and session_request.message_id == message.id
            else None
        )
        # Without the page before, what it would change is left out: nothing jumps when it comes.
        is_first = index == 0 and not self.history.older_count
        rewound = self._rewound.get(message.id)
        around = Surroundings(
            day=format_day(message, self._shown_before(index)) if index or is_first else "",
            introduces=self._introduces(index, message),
            is_last=all(self.history[at].rewound for at in range(index + 1, len(self.history))),
            rewound=len(rewound) if rewound and rewound.start == index else 0,
            is_folded=self._is_folded(index),
            files=self._find_turn_files(index),
        )
        return LayoutInput(message, self.context, expansion_states, request, around)

    def _find_turn_files(self, index: int) -> tuple[TurnFile, ...]:
        """What the turn changed that ends with this message; nothing for any other message."""
        following = self.history[index + 1] if index + 1 < len(self.history) else None
        is_end = following is None or _begins_turn(following)
        if not self.history.turn_files or self.history[index].role == "user" or not is_end:
            return ()
        before = range(index - 1, max(-1, index - 1 - _REACH), -1)
        first = next((at for at in before if _begins_turn(self.history[at])), None)
        return () if first is None else self.history.turn_files.get(self.history[first].id, ())

    def _introduces(self, index: int, message: Message) -> bool:
        """Whether agent, model or mode differ from the previous answer's."""
        if message.role == "user":
            return False
        if index == 0:
            return not self.history.older_count
        for before in range(index - 1, max(-1, index - 1 - _REACH), -1):
            other = self.history[before]
            if other.role != "user" and not self._is_folded(before):
                return _author(other) != _author(message)
        return True

    def _exact_height(self, index: int) -> int | None:
        if self._is_hidden(index):
            return 0
        message = self.history[index]
        exact = self._exact_heights.get(message.id)
        return exact[1] if exact and exact[0] is message else None

    def _height(self, index: int) -> int:
        exact = self._exact_height(index)
        if exact is not None:
            return exact
        if self._is_folded(index):
            return FOLDED_ROWS
        return estimate_height(self.history[index], self.context)
