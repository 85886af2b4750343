"""An application that shows only a transcript, and helpers that build its messages."""

import time
from typing import Any

from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.message import Message as TextualMessage

from model.domain.events.base import Event
from model.domain.messages import Block, Message, MessagePage
from model.domain.sessions import Session
from tests.tui.builders import a_message
from tui.draw.colors import get_palette
from tui.store.history import History
from tui.transcript.widget import Transcript

SESSION = Session(id="s1", worktree_id="w", name="A session", created_at=0)
DARK = get_palette("dark", "vitesse-black")
LIGHT = get_palette("light", "hosting-light")


def user(message_id: str, text: str, **fields: Any) -> Message:
    return a_message(text, id=message_id, timestamp=time.time(), **fields)


def agent(message_id: str, *blocks: Block, **fields: Any) -> Message:
    given: dict[str, Any] = {"backend": "backend_a", "model": "model_1", "execution_mode": "plan"}
    given |= {"role": "assistant", "content": list(blocks), **fields}
    return a_message("", id=message_id, timestamp=time.time(), **given)


def running(message_id: str, *blocks: Block) -> Message:
    return agent(message_id, *blocks, status="processing")


def history_of(*messages: Message, total: int = 0) -> History:
    history = History("s1")
    history.load(MessagePage(messages=list(messages), total=max(total, len(messages))))
    return history


class TranscriptApp(App[None]):
    def __init__(self, history: History, session: Session = SESSION) -> None:
        super().__init__()
        self.history, self.session = history, session
        self.posted: list[TextualMessage] = []
        self.refreshed: list[tuple[tuple[Region, ...], bool]] = []

    def compose(self) -> ComposeResult:
        yield Transcript()

    def on_mount(self) -> None:
        self.transcript.show(self.history, DARK, self.session, root="/w/alpha")
        self.transcript.focus()

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    @property
    def rows(self) -> list[str]:
        """The rows on the screen, without the scroll bar."""
        height = self.transcript.size.height
        return [self.transcript.render_line(y).text.rstrip() for y in range(height)]

    @property
    def text(self) -> str:
        return "\n".join(self.rows)

    def apply(self, *events: Event) -> None:
        for event in events:
            changed = self.history.apply(event)
            assert changed is not None
            self.transcript.update_messages(changed)

    def row_of(self, text: str) -> int:
        return next(y for y, row in enumerate(self.rows) if text in row)

    def watch_refreshes(self) -> None:
        """Record from now on which regions the transcript refreshes."""
        original = self.transcript.refresh

        def refresh(*regions: Region, layout: bool = False, **options: Any) -> Transcript:
            self.refreshed.append((regions, layout))
            return original(*regions, layout=layout, **options)

        self.transcript.refresh = refresh  # type: ignore[method-assign]

    def on_transcript_older_wanted(self, message: Transcript.OlderWanted) -> None:
        self.posted.append(message)

    def on_transcript_typed(self, message: Transcript.Typed) -> None:
        self.posted.append(message)

    def on_transcript_copy_wanted(self, message: Transcript.CopyWanted) -> None:
        self.posted.append(message)

    def on_transcript_opened(self, message: Transcript.Opened) -> None:
        self.posted.append(message)
