"""A client without a model: it applies events from a test and records the commands called."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from typing import Any

from model.agents.catalog import BUILT_IN
from model.api.code_reviews import ReviewState
from model.api.command import Command
from model.api.doctor import AgentKind, AgentModel, BackendReport, Installation
from model.api.usage import UsageReport, UsageRow
from model.api.worktrees import RemovalLosses
from model.base.errors import SpinneyError
from model.client.base import Disconnected, EventBatch, Loaded, Update
from model.domain.code_reviews import CodeReview
from model.domain.events.base import Event
from model.domain.findings import Finding
from model.domain.landing import ReviewProgress
from model.domain.messages import Message, MessagePage, SentMessage
from model.domain.projects import Project
from model.domain.secret_findings import SecretReport
from model.domain.sessions import Session
from model.domain.worktrees import IncludedFiles, Worktree
from model.state import State, apply
from tests.tui.builders import a_project, a_session, a_state, a_worktree

Answer = Callable[[dict[str, Any]], Any]


class FakeClient:
    """In-memory client; `answers` maps a command's name to the function that returns its result."""

    def __init__(self, state: State | None = None) -> None:
        self.state = state or a_state()
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.messages: dict[str, list[Message]] = {}
        self.answers: dict[str, Answer] = {
            "get_messages": self._page,
            "send_chat_message": lambda given: SentMessage(message_id="m", status="processing"),
            "get_problems": lambda given: [],
            "list_recovery_points": lambda given: [],
            "list_turns": lambda given: [],
            "get_usage": lambda given: UsageReport(
                by=given["by"],
                since=None,
                until=None,
                today="2026-11-27",
                rows=[],
                total=UsageRow(key="", label="Total"),
            ),
            "get_http_server_status": lambda given: {"running": False},
            "find_secrets": lambda given: SecretReport(),
            "list_server_addresses": lambda given: [],
            "get_removal_losses": lambda given: RemovalLosses(
                files=[], commits=0, sessions=0, running=[]
            ),
            "list_directories": lambda given: [],
            "get_included_files": lambda given: IncludedFiles(),
            "get_review": lambda given: ReviewState(
                progress=ReviewProgress(), verdicts=[], viewed=[]
            ),
            "get_code_review": lambda given: CodeReview(
                worktree_id=given["worktree_id"], status="none"
            ),
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

    async def call(self, command: Command[..., Any], /, *args: Any, **given: Any) -> Any:
        """Check the arguments, record the call and return its answer."""
        command.parse(given)
        self.calls.append((command.name, given))
        answer = self.answers.get(command.name)
        result = answer(given) if answer is not None else None
        return await result if asyncio.iscoroutine(result) else result

    async def updates(self) -> AsyncIterator[Update]:
        """The updates that the test feeds."""
        while True:
            yield await self._updates.get()

    async def close(self) -> None:
        """Record the call; there is nothing to release."""
        self.calls.append(("close", {}))

    # For tests -----------------------------------------------------------------------------------

    def feed(self, *events: Event) -> None:
        """Apply events and send them to the application."""
        for event in events:
            self.state = apply(self.state, event)
        self._updates.put_nowait(EventBatch(events))

    def lose(self, reason: str = "no route") -> None:
        """Report a lost connection."""
        self._updates.put_nowait(Disconnected(reason))

    def reload(self, state: State | None = None) -> None:
        """Send the whole state, as after missed events."""
        self.state = state or self.state
        self._updates.put_nowait(Loaded(self.state))

    def called(self, name: str) -> list[dict[str, Any]]:
        """The arguments of each call to a command."""
        return [given for command, given in self.calls if command == name]

    def refuse(self, name: str, sentence: str, error_type: Any = "invalid_request") -> None:
        """Let a command fail with this message."""

        def answer(given: dict[str, Any]) -> Any:
            raise SpinneyError(sentence, error_type)

        self.answers[name] = answer

    def _page(self, given: dict[str, Any]) -> MessagePage:
        every = self.messages.get(given["session_id"], [])
        end = len(every) - given.get("offset", 0)
        page = every[max(0, end - given["limit"]) : max(0, end)]
        return MessagePage(messages=page, total=len(every))


def client_with_two_sessions() -> FakeClient:
    """A client of one worktree with the sessions "s1" and "s2"."""
    return FakeClient(
        a_state(
            a_project(),
            a_worktree(cached_uncommitted_added=12, cached_uncommitted_removed=3),
            a_session(created_at=1.0),
            a_session(id="s2", name="Rename the store", created_at=2.0),
        )
    )


def a_client(*more: Project | Worktree | Session, **session: Any) -> FakeClient:
    """A client with a project, a worktree, a session with these fields, and `more`."""
    return FakeClient(a_state(a_project(), a_worktree(), a_session(**session), *more))
