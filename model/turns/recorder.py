"""Records each turn: a snapshot of the worktree before and after it, and the files it changed."""

import asyncio
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.events.messages import RunNoticed
from model.domain.events.sessions import TurnRecorded
from model.domain.messages import Block, Message, ToolUseBlock
from model.domain.sessions import Session
from model.domain.tool_uses import list_edits
from model.domain.turns import Turn, TurnFile, make_turn_id
from model.git.changes import to_display_name
from model.git.snapshots import files
from model.git.snapshots.chain import Reason, SnapshotNote, pack_chain, take_snapshot
from model.secrets.scanner import mask_secrets
from model.store.store import Store

MAX_DELAY: Final = 2.0
"""Seconds for which a turn waits for its snapshot."""
CONTINUED: Final = "Continued after a pause"
"""What a turn is listed as that continues one which was cut off by a limit."""
_MAX_FILES: Final = 1000
"""Changed files that are listed of one turn."""
_MAX_PROMPT: Final = 200
"""Characters of the user's message that are kept with its turn."""
_MAX_READ: Final = 10_000
"""Characters of it that are looked at for secrets."""
_MAX_MESSAGES: Final = 50
"""The newest messages in which a turn's edits are looked for."""
_EDITING_TOOLS: Final = frozenset({"edit"})
_READING_TOOLS: Final = frozenset(
    {"read", "grep", "glob", "ls", "list", "webfetch", "websearch", "todowrite", "update_plan",
     "todoread"}
)  # fmt: skip


@dataclass(slots=True)
class _RunningTurn:
    turn: Turn
    has_company: bool = False
    """Whether another session or a script worked in the worktree at the same time."""
    end: dict[str, Any] = field(default_factory=dict)
    """The turn's fields that are known at its end."""


class TurnRecorder:
    """Takes the snapshots around turns. Belongs to the core's event loop."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._running: dict[str, _RunningTurn] = {}
        self._recordings: dict[str, asyncio.Task[None]] = {}

    async def begin(self, session: Session, message: Message | None) -> None:
        """Take the snapshot before a turn; never fails, and takes at most `MAX_DELAY` seconds.

        A snapshot that takes longer goes on while the agent works. `session` is the session as it
        was before its agent was started. `message` is that of the user; a turn without one, which
        continues another, is listed as continued.
        """
        starting = self.begin_in_background(session, message, "" if message else CONTINUED)
        done, _ = await asyncio.wait({starting}, timeout=MAX_DELAY)
        if not done:
            self._notify(session.id, "Saving the worktree's files takes a while…")

    def begin_in_background(
        self, session: Session, message: Message | None = None, title: str = ""
    ) -> asyncio.Task[None]:
        """Take the snapshot before a turn that the agent has begun already.

        `title` is what a turn without a message is listed as.
        """
        running = _RunningTurn(
            Turn(
                id="",
                session_id=session.id,
                worktree_id=session.worktree_id,
                number=0,
                message_id=message.id if message else "",
                prompt=_shorten(message.text) if message else title,
                started_at=time.time(),
                backend=session.backend,
                start_token=session.resume_token,
                start_mark=None if session.handover else session.turn_mark,
            )
        )
        self._running[session.id] = running
        self._note_others(session.worktree_id)
        return self._run(session.id, self._start(running, self._recordings.get(session.id)))

    def end(self, session: Session) -> None:
        """Record the end of the session's turn, in the background; none may have begun.

        Call it before the session is called idle: what is saved from now on is not the agent's. So
        no one waits for the snapshot, which takes seconds in a large repository.
        """
        self._note_others(session.worktree_id)
        running = self._running.pop(session.id, None)
        if running is None:
            return
        running.end = {
            "ended_at": time.time(),
            "backend": session.backend,
            "resume_token": session.resume_token,
            "mark": session.turn_mark,
        }
        self._run(session.id, self._finish(running, self._recordings.get(session.id)))

    def note_company(self, worktree_id: str) -> None:
        """Note that others change files of the worktree now, such as an undo."""
        for running in self._running_in(worktree_id):
            running.has_company = True

    async def settle(self, session_id: str) -> None:
        """Wait until the session's last turn is recorded."""
        task = self._recordings.get(session_id)
        if task is not None:
            await asyncio.wait({task})

    async def recover(self) -> None:
        """Record the ends of turns that a kill interrupted. Called once, at start."""
        for turn in await self._store.unfinished_turns():
            if turn.session_id in self._store.state.sessions:
                end = {"ended_at": time.time()}
                running = _RunningTurn(turn, has_company=True, end=end)
                self._run(turn.session_id, self._finish(running, None))

    async def close(self) -> None:
        """Wait until all turns that ended are recorded."""
        if self._recordings:
            await asyncio.wait(self._recordings.values())

    # Internal ----------------------------------------------------------------------------------

    def _run(self, session_id: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._recordings[session_id] = task
        task.add_done_callback(partial(self._forget, session_id))
        return task

    def _forget(self, session_id: str, task: asyncio.Task[None]) -> None:
        if self._recordings.get(session_id) is task:
            del self._recordings[session_id]

    def _note_others(self, worktree_id: str) -> None:
        """Note for all turns in a worktree whether something else runs there."""
        worktree = self._store.state.worktrees.get(worktree_id)
        has_scripts = worktree is not None and bool(worktree.running_scripts)
        if has_scripts or len(self._running_in(worktree_id)) > 1:
            self.note_company(worktree_id)

    def _running_in(self, worktree_id: str) -> list[_RunningTurn]:
        return [one for one in self._running.values() if one.turn.worktree_id == worktree_id]

    async def _start(self, running: _RunningTurn, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        session_id = running.turn.session_id
        number = await self._store.last_turn_number(session_id) + 1
        turn = running.turn.model_copy(
            update={"id": make_turn_id(session_id, number), "number": number}
        )
        tree, problem = await self._take_snapshot(turn, "turn start")
        running.turn = turn.model_copy(update={"before_tree": tree, "problem": problem})
        if problem:
            self._notify(session_id, f"This turn cannot be undone: {problem}")
        self._store.record(TurnRecorded(turn=running.turn))

    async def _finish(self, running: _RunningTurn, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        running.turn = running.turn.model_copy(update=running.end)
        try:
            turn = await self._complete(running)
        except SpinneyError as error:
            turn = running.turn.model_copy(update={"problem": error.message})
        if turn.session_id in self._store.state.sessions:
            self._store.record(TurnRecorded(turn=turn))
        worktree = self._store.state.worktrees.get(turn.worktree_id)
        if worktree is not None:
            await pack_chain(Path(worktree.path), worktree.id)

    async def _complete(self, running: _RunningTurn) -> Turn:
        turn = running.turn
        tree, problem = await self._take_snapshot(turn, "turn end")
        worktree = self._store.state.worktrees.get(turn.worktree_id)
        if worktree is None or not tree or not turn.before_tree:
            return turn.model_copy(update={"after_tree": tree, "problem": turn.problem or problem})
        changed: list[TurnFile] = []
        if tree != turn.before_tree:
            root, taken_at = Path(worktree.path), time.time()
            changed = await list_changes(root, turn.before_tree, tree)
            late = await asyncio.to_thread(_find_late, root, changed, turn.ended_at, taken_at)
            changed = await self._attribute(changed, running, late)
        return turn.model_copy(
            update={"after_tree": tree, "files": changed, "shared": running.has_company}
        )

    async def _attribute(
        self, changed: list[TurnFile], running: _RunningTurn, late: set[str]
    ) -> list[TurnFile]:
        """Mark the files that others changed; `late` are those that were after the turn's end."""
        blocks = await read_turn_blocks(self._store, running.turn)
        edited = {edit.path for edit in list_edits(blocks)}
        is_alone = not running.has_company and _used_other_tools(blocks)
        running.has_company |= bool(late & edited)
        return [
            file
            if file.path in edited or (is_alone and file.path not in late)
            else file.model_copy(update={"others": True})
            for file in changed
        ]

    async def _take_snapshot(self, turn: Turn, reason: Reason) -> tuple[str, str]:
        """Return the tree, or why there is none."""
        worktree = self._store.state.worktrees.get(turn.worktree_id)
        if worktree is None:
            return "", "The worktree was removed."
        note = SnapshotNote(
            reason,
            session_id=turn.session_id,
            turn_id=turn.id,
            worktree_id=worktree.id,
            worktree_name=worktree.name,
        )
        try:
            return (await take_snapshot(Path(worktree.path), note)).tree, ""
        except SpinneyError as error:
            return "", error.message

    def _notify(self, session_id: str, text: str) -> None:
        self._store.record(RunNoticed(session_id=session_id, text=text))


def _find_late(
    root: Path, changed: Sequence[TurnFile], ended_at: float | None, taken_at: float
) -> set[str]:
    """Return the files that were saved after the turn had ended and before its snapshot was taken.

    The time is that of the last change to a file's content or name, which no program sets. Times
    in steps, of 4 ms on Linux, do not show what is saved in the step in which the turn ended.
    """
    found = set()
    for file in changed:
        with suppress(OSError, ValueError):  # It is deleted, or has another name than is shown.
            if (ended_at or taken_at) < (root / file.path).lstat().st_ctime <= taken_at:
                found.add(file.path)
    return found


def _used_other_tools(blocks: Sequence[Block]) -> bool:
    """Whether the agent used a tool that may change any file, such as a shell."""
    names = {block.name.lower() for block in blocks if isinstance(block, ToolUseBlock)}
    return bool(names - _EDITING_TOOLS - _READING_TOOLS)


async def read_turn_blocks(store: Store, turn: Turn) -> list[Block]:
    """Return the blocks of the agent's messages in a turn, in order."""
    page = await store.messages(turn.session_id, _MAX_MESSAGES)
    answers: list[Message] = []
    for message in page.messages:
        if message.id == turn.message_id:
            answers = []
        elif message.role == "assistant" and _is_within(message, turn):
            answers.append(message)
    return [block for message in answers for block in message.content]


def _shorten(text: str) -> str:
    """The beginning of a message, masked before it is cut: a piece of a token is not recognized."""
    return clean_line(mask_secrets(text[:_MAX_READ]))[:_MAX_PROMPT]


def _is_within(message: Message, turn: Turn) -> bool:
    is_late = turn.ended_at is not None and message.timestamp > turn.ended_at
    return message.timestamp >= turn.started_at and not is_late


_STATUS: Final[dict[str, Literal["added", "modified", "deleted"]]] = {"A": "added", "D": "deleted"}


async def list_changes(root: Path, before: str, after: str) -> list[TurnFile]:
    """Return the files that differ between two snapshots' trees, at most `_MAX_FILES`."""
    changed, counts = await files.compare_trees(root, before, after)
    found = []
    for path, (old, new) in sorted(changed.items())[:_MAX_FILES]:
        added, removed = counts.get(path, (None, None))
        status = _STATUS.get("A" if old is None else "D" if new is None else "", "modified")
        name = to_display_name(path)
        found.append(TurnFile(path=name, status=status, added=added, removed=removed))
    return found
