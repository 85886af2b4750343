"""A client without a model: it folds the events that a test feeds, and notes what is called."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from typing import Any

from model.agents.catalog import BUILT_IN
from model.api.command import Command
from model.api.doctor import AgentKind, AgentModel, BackendReport, Installation
from model.api.worktrees import RemovalLosses
from model.base.errors import SpinneyError
from model.client.base import Disconnected, EventBatch, Loaded, Update
from model.domain.events import Event
from model.domain.findings import Finding
from model.domain.resources import (
    Message,
    MessagePage,
    Project,
    SentMessage,
    Session,
    TextBlock,
    Worktree,
)
from model.preferences.schema import Preferences
from model.state import State, apply

Answer = Callable[[dict[str, Any]], Any]


class FakeClient:
    """Stands where the model would be. `answers` says what each command gives."""

    def __init__(self, state: State | None = None) -> None:
        self.state = state or a_state()
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.messages: dict[str, list[Message]] = {}
        self.answers: dict[str, Answer] = {
            "get_messages": self._page,
            "send_chat_message": lambda given: SentMessage(message_id="m", status="processing"),
            "get_problems": lambda given: [],
            "get_http_server_status": lambda given: {"running": False},
            "get_removal_losses": lambda given: RemovalLosses(
                files=[], commits=0, sessions=0, running=[]
            ),
            "list_directories": lambda given: [],
            "list_agent_commands": lambda given: [],
            "list_agents": lambda given: [
                AgentKind(
                    name=row.name,
                    label=row.label,
                    program=row.program,
                    models=[
                        AgentModel.model_validate({**asdict(model), "answers_as": model.full_name})
                        for model in row.models
                    ],
                )
                for row in BUILT_IN.backends
            ],
            "list_models": lambda given: next(
                agent.models
                for agent in self.answers["list_agents"]({})
                if agent.name == given["backend"]
            ),
            "get_installation": lambda given: Installation(
                version="1.0", log="/data/spinney.log", findings=[Finding("git", True, "2.43")]
            ),
            "list_backends": lambda given: [
                BackendReport(
                    name="backend_a",
                    label="Claude Code",
                    program="/usr/bin/claude",
                    version="2.1",
                    supported=True,
                    signed_in=True,
                    problem=None,
                    fix=None,
                )
            ],
        }
        self._updates: asyncio.Queue[Update] = asyncio.Queue()
        self._updates.put_nowait(Loaded(self.state))

    async def call(self, command: Command[..., Any], *args: Any, **given: Any) -> Any:
        """Note the call, and answer it as the test said. Arguments must be such as it takes."""
        command.parse(given)
        self.calls.append((command.name, given))
        answer = self.answers.get(command.name)
        result = answer(given) if answer is not None else None
        return await result if asyncio.iscoroutine(result) else result

    async def updates(self) -> AsyncIterator[Update]:
        """What the test feeds."""
        while True:
            yield await self._updates.get()

    async def close(self) -> None:
        """Nothing is held."""
        self.calls.append(("close", {}))

    # For tests -----------------------------------------------------------------------------------

    def feed(self, *events: Event) -> None:
        """These happen."""
        for event in events:
            self.state = apply(self.state, event)
        self._updates.put_nowait(EventBatch(events))

    def lose(self, reason: str = "no route") -> None:
        """The connection breaks."""
        self._updates.put_nowait(Disconnected(reason))

    def reload(self, state: State | None = None) -> None:
        """Events were missed; here is everything anew."""
        self.state = state or self.state
        self._updates.put_nowait(Loaded(self.state))

    def called(self, name: str) -> list[dict[str, Any]]:
        """The arguments of each call of a command."""
        return [given for command, given in self.calls if command == name]

    def refuse(self, name: str, sentence: str, error_type: Any = "invalid_request") -> None:
        """A command fails with this sentence."""

        def answer(given: dict[str, Any]) -> Any:
            raise SpinneyError(sentence, error_type)

        self.answers[name] = answer

    def _page(self, given: dict[str, Any]) -> MessagePage:
        every = self.messages.get(given["session_id"], [])
        end = len(every) - given.get("offset", 0)
        page = every[max(0, end - given["limit"]) : max(0, end)]
        return MessagePage(messages=page, total=len(every))


def a_project(**fields: Any) -> Project:
    """A project."""
    given = {"id": "p1", "name": "alpha", "path": "/code/alpha", "default_branch": "main"}
    return Project(**{**given, "added_at": 1.0, **fields})


def a_worktree(**fields: Any) -> Worktree:
    """A worktree of `p1`."""
    given = {"id": "w1", "project_id": "p1", "name": "brave-otter", "path": "/trees/brave-otter"}
    return Worktree(**{**given, "branch": "brave-otter", "created_at": 1.0, **fields})


def a_session(**fields: Any) -> Session:
    """A session in `w1`."""
    given = {"id": "s1", "worktree_id": "w1", "name": "Fix the parser", "created_at": 1.0}
    return Session(**{**given, "model": "model_1", **fields})


def a_message(text: str, **fields: Any) -> Message:
    """A message of `s1`."""
    given = {"id": text, "role": "user", "session_id": "s1", "timestamp": 1.0}
    return Message(**{**given, "content": [TextBlock(text=text)], **fields})


def a_state(*resources: Project | Worktree | Session) -> State:
    """A state of these."""
    return State(
        projects={r.id: r for r in resources if isinstance(r, Project)},
        worktrees={r.id: r for r in resources if isinstance(r, Worktree)},
        sessions={r.id: r for r in resources if isinstance(r, Session)},
        preferences=Preferences(has_seen_feature_tour=True),
    )
