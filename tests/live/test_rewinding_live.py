"""Taking back turns, bringing them back and forking with the real programs, as the chat engine does
it: what the model is sent afterwards.
"""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from model.agents.catalog import Catalog
from model.backends import base
from model.backends.claude.backend import ClaudeBackend
from model.backends.codex.backend import CodexBackend
from model.backends.opencode.backend import OpenCodeBackend
from model.chat.chats import Chats
from model.chat.conversations import Conversations
from model.chat.handover import HandoverWriter
from model.chat.rewinding import ConversationPoint
from model.domain.events.projects import ProjectAdded
from model.domain.events.sessions import SessionUpdated
from model.domain.events.worktrees import WorktreeCreated
from model.domain.messages import Message
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.turns.recorder import TurnRecorder
from model.writing.writer import Writer
from tests.live import completions_stub
from tests.live.codex_setup import LONG_ENOUGH
from tests.live.completions_stub import CompletionsStub
from tests.live.every_backend.talk import TURN_LIMIT
from tests.live.isolation import isolate_claude, isolate_codex, isolate_opencode, put_on_path
from tests.live.provider_stub import ProviderStub
from tests.live.responses_stub import ResponsesStub
from tests.live.stub import Stub
from tests.model.backends.agents import make_launch
from tests.model.chat.harness import Harness, NoRecorder, open_harness

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Kind:
    """A program and the stub of its provider."""

    program: str
    stub: type[Stub]
    isolate: Callable[[Path, str], dict[str, str]]
    open_backend: Callable[[Path], base.Backend]
    model: str


KINDS = [
    Kind("claude", ProviderStub, isolate_claude, lambda _: ClaudeBackend(), "sonnet"),
    Kind("codex", ResponsesStub, isolate_codex, lambda _: CodexBackend(), "gpt-5.5"),
    Kind(
        "opencode",
        CompletionsStub,
        lambda home, url: isolate_opencode(home, completions_stub.configuration(url)),
        OpenCodeBackend,
        f"{completions_stub.PROVIDER}/{completions_stub.MODEL}",
    ),
]


class Talk:
    """The session `s` with a real program, in one of two worktrees; resolves its launches."""

    def __init__(
        self, harness: Harness, backend: base.Backend, environment: dict[str, str]
    ) -> None:
        self.store = harness.store
        self._harness = harness
        self._environment = environment
        handovers = HandoverWriter(self.store, cast(Writer, harness.writer), Catalog())
        recorder = cast(TurnRecorder, NoRecorder())
        backends = {"demo": backend}
        self.conversations = Conversations(
            self.store,
            backends,
            self,
            harness.outputs,
            handovers,
            recorder,
            harness.meter,
            harness.budgets,
        )
        self.chats = Chats(self.store, self.conversations, backends, harness.outputs)
        self.resolve_settings = harness.resolve_settings
        self.label_of = harness.label_of
        self.note_mcp_servers = harness.note_mcp_servers

    def note_models(self, session: Session, models: object) -> None:
        """Ignore the models."""

    def identify_directory(self, session: Session) -> tuple[int, int]:
        status = self._place(session).stat()
        return status.st_dev, status.st_ino

    async def resolve_launch(self, session: Session) -> base.Launch:
        return make_launch(
            self._place(session),
            mode=session.execution_mode,
            model=session.model,
            environment=self._environment,
            resume_token=session.resume_token,
            fork_at=session.fork_at,
        )

    def _place(self, session: Session) -> Path:
        return Path(self.store.state.worktrees[session.worktree_id].path)

    async def say(self, text: str, session_id: str = "s") -> Message:
        """Send a message and return the answer."""
        await self.chats.send(session_id, text)
        await self.wait_for_turn(session_id)
        return (await self.store.messages(session_id)).messages[-1]

    async def wait_for_turn(self, session_id: str = "s") -> None:
        async with asyncio.timeout(TURN_LIMIT):
            while self.session(session_id).is_active:
                self._harness.changed.clear()
                await self._harness.changed.wait()
        assert self.session(session_id).status == "idle", self.session(session_id).last_run

    def session(self, session_id: str = "s") -> Session:
        return self.store.state.sessions[session_id]

    async def say_two(self, first: str, second: str) -> ConversationPoint:
        """Send two messages, one after the other's answer; returns the point between them."""
        await self.say(first)
        between = self.session()
        await self.say(second)
        return await self.find_point(second, between)

    async def find_point(self, text: str, before: Session) -> ConversationPoint:
        """The point before a message; `before` is the session as it was then."""
        messages = (await self.store.messages("s")).messages
        return ConversationPoint(
            message_id=next(message.id for message in messages if message.text == text),
            backend="demo",
            resume_token=before.resume_token,
            mark=before.turn_mark,
        )


@pytest.fixture(params=KINDS, ids=lambda kind: kind.program)
async def talk_and_stub(
    request: pytest.FixtureRequest, place: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Talk, Stub]]:
    kind: Kind = request.param
    put_on_path(kind.program, monkeypatch)
    for name in ("home", "w", "other"):
        (place / name).mkdir()
    harness = await open_harness(place / "db")
    await harness.store.accept(
        ProjectAdded(project=Project(id="p", name="alpha", path=str(place), added_at=1)),
        *(
            WorktreeCreated(
                worktree=Worktree(
                    id=name,
                    project_id="p",
                    name=name,
                    path=str(place / name),
                    branch=name,
                    created_at=1,
                )
            )
            for name in ("w", "other")
        ),
    )
    await harness.add_session("s")
    updates = {"execution_mode": "yolo", "model": kind.model}
    await harness.store.accept(SessionUpdated(session_id="s", updates=updates))
    stub = kind.stub()
    async with stub.running() as base_url:
        backend = kind.open_backend(place / "data")
        environment = kind.isolate(place / "home", base_url)
        talk = Talk(harness, backend, environment)
        yield talk, stub
        await talk.conversations.close()
        await backend.close()
    await harness.close()


async def test_the_model_knows_nothing_of_what_was_taken_back_until_it_is_brought_back(
    talk_and_stub: tuple[Talk, Stub],
) -> None:
    talk, stub = talk_and_stub
    point = await talk.say_two("say: one", "say: two")
    await talk.say("say: three")
    rewound = await talk.chats.rewind("s", keep=point)
    await talk.chats.restore("s", rewound)
    assert (await talk.say("remember?")).text == "You said: say: one; say: two; say: three"
    await talk.chats.rewind("s", keep=point)
    assert (await talk.say("remember?")).text == "You said: say: one"
    sent = json.dumps(stub.requests[-1])
    assert "say: one" in sent
    assert "say: two" not in sent
    assert "say: three" not in sent
    # The copy continues by itself.
    assert (await talk.say("remember?")).text == "You said: say: one; remember?"


async def test_a_message_sent_into_a_turn_stays_and_goes_with_that_turn(
    talk_and_stub: tuple[Talk, Stub],
) -> None:
    talk, _ = talk_and_stub
    await talk.say("say: one")
    before_turn, text = talk.session(), "slowly: " + "warp " * 12
    await talk.chats.send("s", text)
    await talk.chats.send("s", "say: two", steer=True)
    await talk.wait_for_turn()
    after_turn = talk.session()
    await talk.say("say: three")
    messages = (await talk.store.messages("s")).messages
    assert [each.text for each in messages if each.steered] == ["say: two"]
    await talk.chats.rewind("s", keep=await talk.find_point("say: three", after_turn))
    known = (await talk.say("remember?")).text
    assert "say: one" in known and "say: two" in known and "say: three" not in known
    await talk.chats.rewind("s", keep=await talk.find_point(text, before_turn))
    assert (await talk.say("remember?")).text == "You said: say: one"


async def test_a_fork_works_in_the_other_worktree_and_leaves_the_session_as_it_was(
    talk_and_stub: tuple[Talk, Stub],
) -> None:
    talk, _ = talk_and_stub
    point = await talk.say_two("say: one", "say: two")
    fork = await talk.chats.fork("s", point, "other")
    await talk.say(f"bash: pwd > where; {LONG_ENOUGH}", fork.id)
    other = Path(talk.store.state.worktrees["other"].path)
    assert (other / "where").read_text().strip() == str(other)
    assert (await talk.say("remember?", fork.id)).text.startswith("You said: say: one; bash: pwd")
    assert (await talk.say("remember?")).text == "You said: say: one; say: two"


async def test_a_program_that_lost_the_conversation_is_sent_a_summary(
    talk_and_stub: tuple[Talk, Stub],
) -> None:
    talk, stub = talk_and_stub
    point = await talk.say_two("say: one", "say: two")
    unknown = point.model_copy(update={"mark": str(uuid.uuid4())})
    await talk.chats.rewind("s", keep=unknown)
    await talk.say("say: three")
    sent = json.dumps(stub.requests[-1])
    assert "They want looms." in sent
    assert "say: two" not in sent
    texts = [message.text for message in (await talk.store.messages("s")).messages]
    assert any("no longer has the conversation up to this point" in text for text in texts)
