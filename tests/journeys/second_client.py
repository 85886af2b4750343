"""The user of the second client, who can act on any session at any time."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.journeys.client import Client, RefusedError
from tests.journeys.ledger import STOPPED, Conversation, Ledger, World
from tests.journeys.prompts import DIRECTIVES

WORKTREES: Final = {"alpha": ("oak", "elm"), "beta": ("ash",)}
"""Names of the worktrees of each repository."""
MIN_OPEN_SESSIONS: Final = 3
"""Number of open sessions from which on none is archived."""
MAX_SESSIONS: Final = 8
"""Number of sessions from which on no more are created."""


class SecondClient:
    """Runs commands and records them in the ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._names = count(1)
        self._kind_numbers = count()
        self.actions: dict[str, Callable[[Client, World, Conversation], None]] = {
            "send": self._send,
            "stop": self._stop,
            "decide": self._decide,
            "archive": self._archive,
            "rename": self._rename,
            "remove": self._remove,
            "change": self._change,
        }
        """The possible actions by name."""

    def perform(self, name: str, client: Client, world: World, number: int) -> None:
        """Perform this action on the session with this number, if it is possible now."""
        wanted = world.nth(number)
        if name in ("remove", "change") and (
            waiting := [m for m in world.open_sessions if m.queued]
        ):
            wanted = waiting[number % len(waiting)]
        try:
            self.actions[name](client, world, wanted)
        except RefusedError:
            pass  # The agent may have continued since the conversations were read.

    def new_name(self) -> str:
        """Return an unused session name."""
        return f"name{next(self._names):02}"

    def create_sessions(self, client: Client, repositories: list[Path]) -> None:
        """Create the projects, worktrees and sessions that a journey begins with."""
        for repository in repositories:
            project = client.call("add_project", path=str(repository))
            for name in WORKTREES[repository.name]:
                self._ledger.expect("worktree:creating")
                arguments = {"projectId": project["id"], "customName": name}
                worktree = client.call("create_worktree", **arguments)
                for mode in ("build", "plan") if name == "oak" else ("build",):
                    self.create_session(client, worktree["id"], mode)

    def create_worktree_session(self, client: Client, world: World) -> str:
        """Create a worktree of the newest project and a session in it. Return the session's id."""
        project = client.call("list_projects")[-1]
        self._ledger.expect("worktree:creating")
        arguments = {"projectId": project["id"], "customName": f"elder{len(world.conversations)}"}
        return self.create_session(
            client, client.call("create_worktree", **arguments)["id"], "build"
        )

    def create_session(self, client: Client, worktree_id: str, mode: str) -> str:
        """Create a session and return its id."""
        arguments = {"worktreeId": worktree_id, "name": self.new_name(), "executionMode": mode}
        self._ledger.expect("session-created")
        return str(client.call("create_session", **arguments)["id"])

    def _send(self, client: Client, _: World, conversation: Conversation) -> None:
        kind = list(DIRECTIVES)[next(self._kind_numbers) % len(DIRECTIVES)]
        text = DIRECTIVES[kind].format(mark=self._ledger.new_mark())
        self._ledger.record_sent(text, conversation.id)
        client.call("send_chat_message", sessionId=conversation.id, message=text)

    def _stop(self, client: Client, _: World, conversation: Conversation) -> None:
        self._ledger.expect(STOPPED)
        client.call("stop_generation", sessionId=conversation.id)

    def _decide(self, client: Client, _: World, conversation: Conversation) -> None:
        request = conversation.request
        if request is None:
            return
        outcome, command, choice = _DECISIONS[request["kind"]]
        self._ledger.record_decision(request["message_id"], outcome)
        arguments = {"requestId": request["id"]} if request["kind"] == "permission" else {}
        client.call(command, sessionId=conversation.id, **arguments, **choice)

    def _archive(self, client: Client, world: World, conversation: Conversation) -> None:
        if conversation.is_archived:
            client.call("unarchive_session", sessionId=conversation.id)
        elif len(world.open_sessions) > MIN_OPEN_SESSIONS:
            self._ledger.expect("session-archived")
            self._ledger.expect(STOPPED)
            client.call("archive_session", sessionId=conversation.id)

    def _remove(self, client: Client, _: World, conversation: Conversation) -> None:
        self._remove_newest(client, conversation)

    def _change(self, client: Client, _: World, conversation: Conversation) -> None:
        if text := self._remove_newest(client, conversation):
            text = f"{text} {self._ledger.new_mark()}"
            self._ledger.record_sent(text, conversation.id)
            client.call("send_chat_message", sessionId=conversation.id, message=text)

    def _remove_newest(self, client: Client, conversation: Conversation) -> str:
        """Remove the newest queued message and return its text, or an empty string."""
        if not conversation.queued:
            return ""
        message = conversation.queued[-1]
        arguments = {"sessionId": conversation.id, "messageId": message["id"]}
        client.call("remove_queued_message", **arguments)
        text = "".join(block.get("text", "") for block in message["content"])
        self._ledger.record_removed(text)
        return text

    def _rename(self, client: Client, _: World, conversation: Conversation) -> None:
        client.call("update_session", sessionId=conversation.id, name=self.new_name())


_DECISIONS: Final[dict[str, tuple[str, str, dict[str, Any]]]] = {
    "plan": ("approved build", "approve_plan", {"mode": "build"}),
    "question": ("answered blue", "answer_question", {"answer": "blue"}),
    "permission": ("denied", "answer_permission", {"decision": "deny"}),
}
"""For each kind of request: the outcome, and the command and arguments that choose it."""
