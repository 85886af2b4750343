"""A desk without an application, for calling actions as functions."""

from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.state import State
from tests.tui.fake_client import FakeClient
from tui.store.dialog_drafts import DialogDrafts
from tui.store.pending import Pending
from tui.store.places import Place, get_project, get_worktree
from tui.store.task_choices import TaskChoices
from tui.tree.index import TreeIndex


class FakeDesk:
    """Replaces the main screen; `answers` are the results of the dialogs, in order."""

    def __init__(self, client: FakeClient, place: Place | None = None, *answers: Any) -> None:
        self.client = client
        self.place = place
        self.answers = deque(answers)
        self.dialogs: list[Any] = []
        self.said: list[str] = []
        self.sent: list[tuple[str, str]] = []
        self.copied: list[str] = []
        self.opened: list[str] = []
        self.recent_sessions: list[str] = []
        self.task_choices: dict[str, TaskChoices] = {}
        self.drafts = DialogDrafts()
        self.pending = Pending()
        self.offered: Path | None = None
        self.demo = False
        self.host = SimpleNamespace(copy=self.copied.append, remote_address="", attached=False)
        self.outbox = SimpleNamespace(send=self._send)
        self.mirror = SimpleNamespace(wait_for=self._wait_for)

    @property
    def projects(self) -> Any:
        return SimpleNamespace(session_ids=TreeIndex(self.state).session_ids)

    @property
    def state(self) -> State:
        return self.client.state

    @property
    def session(self) -> Session | None:
        is_open = self.place is not None and self.place.kind == "session"
        return self.state.sessions.get(self.place.id) if self.place and is_open else None

    @property
    def worktree(self) -> Worktree | None:
        return get_worktree(self.place, self.state)

    @property
    def project(self) -> Project | None:
        return get_project(self.place, self.state)

    def say(self, sentence: str, *, bad: bool = False) -> None:
        self.said.append(sentence)

    def show_server(self, status: Any) -> None:
        self.said.append(f"server: {status}")

    async def ask(self, dialog: Any) -> Any:
        self.dialogs.append(dialog)
        return self.answers.popleft() if self.answers else None

    def open_session(self, session_id: str) -> None:
        self.opened.append(session_id)
        self.place = Place("session", session_id)

    def key_of(self, action_id: str) -> str:
        return f"<{action_id}>"

    async def _send(self, session_id: str, text: str, images: tuple[str, ...] = ()) -> None:
        self.sent.append((session_id, text))

    async def _wait_for(self, predicate: Any, timeout: float = 60) -> State:
        assert predicate(self.state)
        return self.state
