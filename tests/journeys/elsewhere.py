"""The person at the second client: does to any session what the one who is watched could do."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.journeys.ledger import STOPPED, Conversation, Ledger, World
from tests.journeys.served import Client, RefusedError
from tests.journeys.speech import DIRECTIVES

TREES: Final = {"alpha": ("oak", "elm"), "beta": ("ash",)}
"""The worktrees of each repository."""
FEWEST: Final = 3
"""Sessions that are left where one is archived."""
MOST: Final = 8
"""Sessions from which on no more are begun."""


class SecondPerson:
    """Acts by commands, and keeps the same account."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._names = count(1)
        self._kinds = count()
        self.does: dict[str, Callable[[Client, World, Conversation], None]] = {
            "send": self._send,
            "stop": self._stop,
            "decide": self._decide,
            "archive": self._archive,
            "rename": self._rename,
            "remove": self._remove,
            "change": self._change,
        }
        """What can be done, by its name."""

    def do(self, name: str, client: Client, world: World, number: int) -> None:
        """Do it to the session of this number, if that is possible there now."""
        wanted = world.at(number)
        if name in ("remove", "change") and (waiting := [m for m in world.open if m.queued]):
            wanted = waiting[number % len(waiting)]
        try:
            self.does[name](client, world, wanted)
        except RefusedError:
            pass  # The agent may have gone on since the world was read.

    def name(self) -> str:
        """A name that no other session has."""
        return f"name{next(self._names):02}"

    def fill(self, client: Client, repositories: list[Path]) -> None:
        """Make the projects, worktrees and sessions that a journey begins with."""
        for repository in repositories:
            project = client.call("add_project", path=str(repository))
            for tree in TREES[repository.name]:
                self._ledger.want("worktree:creating")
                named = {"projectId": project["id"], "customName": tree}
                worktree = client.call("create_worktree", **named)
                for mode in ("build", "plan") if tree == "oak" else ("build",):
                    self.create_session(client, worktree["id"], mode)

    def begin(self, client: Client, world: World) -> str:
        """Make a worktree beside the newest repository's, and a session in it; its id."""
        project = client.call("list_projects")[-1]
        self._ledger.want("worktree:creating")
        named = {"projectId": project["id"], "customName": f"elder{len(world.conversations)}"}
        return self.create_session(client, client.call("create_worktree", **named)["id"], "build")

    def create_session(self, client: Client, worktree_id: str, mode: str) -> str:
        """Begin one; its id."""
        made = {"worktreeId": worktree_id, "name": self.name(), "executionMode": mode}
        self._ledger.want("session-created")
        return str(client.call("create_session", **made)["id"])

    def _send(self, client: Client, _: World, conversation: Conversation) -> None:
        kind = list(DIRECTIVES)[next(self._kinds) % len(DIRECTIVES)]
        text = DIRECTIVES[kind].format(mark=self._ledger.mark())
        self._ledger.send(text, conversation.id)
        client.call("send_chat_message", sessionId=conversation.id, message=text)

    def _stop(self, client: Client, _: World, conversation: Conversation) -> None:
        self._ledger.want(STOPPED)
        client.call("stop_generation", sessionId=conversation.id)

    def _decide(self, client: Client, _: World, conversation: Conversation) -> None:
        request = conversation.request
        if request is None:
            return
        outcome, command, choice = _DECISIONS[request["kind"]]
        self._ledger.act(request["message_id"], outcome)
        named = {"requestId": request["id"]} if request["kind"] == "permission" else {}
        client.call(command, sessionId=conversation.id, **named, **choice)

    def _archive(self, client: Client, world: World, conversation: Conversation) -> None:
        if conversation.is_archived:
            client.call("unarchive_session", sessionId=conversation.id)
        elif len(world.open) > FEWEST:
            self._ledger.want("session-archived")
            self._ledger.want(STOPPED)
            client.call("archive_session", sessionId=conversation.id)

    def _remove(self, client: Client, _: World, conversation: Conversation) -> None:
        self._take_out(client, conversation)

    def _change(self, client: Client, _: World, conversation: Conversation) -> None:
        if text := self._take_out(client, conversation):
            text = f"{text} {self._ledger.mark()}"
            self._ledger.send(text, conversation.id)
            client.call("send_chat_message", sessionId=conversation.id, message=text)

    def _take_out(self, client: Client, conversation: Conversation) -> str:
        """What the newest message says that waited."""
        if not conversation.queued:
            return ""
        message = conversation.queued[-1]
        named = {"sessionId": conversation.id, "messageId": message["id"]}
        client.call("remove_queued_message", **named)
        text = "".join(block.get("text", "") for block in message["content"])
        self._ledger.take_back(text)
        return text

    def _rename(self, client: Client, _: World, conversation: Conversation) -> None:
        client.call("update_session", sessionId=conversation.id, name=self.name())


_DECISIONS: Final[dict[str, tuple[str, str, dict[str, Any]]]] = {
    "plan": ("approved build", "approve_plan", {"mode": "build"}),
    "question": ("answered blue", "answer_question", {"answer": "blue"}),
    "permission": ("denied", "answer_permission", {"decision": "deny"}),
}
"""What becomes of a request, by which command, with which choice."""
