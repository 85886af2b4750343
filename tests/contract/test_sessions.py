"""Sections 2.3, 2.4, 3, 4.3 and 7 of the interface: sessions and messages, by command."""
# ruff: noqa: F811 - fixtures

from typing import Any

import pytest

from model.backends.base import QuestionAsked
from model.resources import Project, Question, QuestionOption, Worktree
from model.workspace import Workspace
from tests.conftest import Eventually
from tests.contract.conftest import Call, refusal
from tests.contract.puppets import call, http, server, socket, start_server  # noqa: F401 - fixtures
from tests.fakes import FakeBackend, plan, silence
from tests.server.conftest import Socket

SESSION_FIELDS = {
    "id", "worktree_id", "name", "created_at", "execution_mode", "model", "thinking_level",
    "backend",
}  # fmt: skip
USAGE_FIELDS = {
    "input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
}  # fmt: skip


@pytest.fixture
async def made(call: Call, worktree: Worktree) -> Any:
    """A session in plan mode."""
    return await call("create_session", worktreeId=worktree.id)


class Says:
    """Sends messages and waits for the states that follow."""

    def __init__(self, call: Call, workspace: Workspace, eventually: Eventually) -> None:
        self._call, self._workspace, self._eventually = call, workspace, eventually

    async def __call__(self, session_id: str, message: str, until: str = "idle") -> Any:
        sent = await self._call("send_chat_message", sessionId=session_id, message=message)
        await self.until(session_id, until)
        return sent

    async def until(self, session_id: str, status: str) -> None:
        sessions = self._workspace.store
        await self._eventually(lambda: sessions.state.sessions[session_id].status == status)


@pytest.fixture
def say(call: Call, workspace: Workspace, eventually: Eventually) -> Says:
    return Says(call, workspace, eventually)


async def test_create_session_gives_every_field_and_the_defaults(made: Any) -> None:
    assert set(made) >= SESSION_FIELDS
    assert (made["execution_mode"], made["backend"]) == ("plan", "backend_a")
    assert (made["thinking_level"], made["model"]) == ("ultrathink", "model_1")
    assert made["name"]


async def test_create_session_takes_what_is_given(call: Call, worktree: Worktree) -> None:
    wanted = {"name": "Mine", "executionMode": "yolo", "model": "model_3", "thinkingLevel": "off"}
    made = await call("create_session", worktreeId=worktree.id, backend="backend_a", **wanted)
    assert [made[k] for k in ("name", "execution_mode", "model", "thinking_level")] == [
        *wanted.values()
    ]


async def test_the_layers_of_a_setting_session_project_preference_default(
    call: Call, worktree: Worktree, project: Project
) -> None:
    async def backend(**given: Any) -> str:
        made = await call("create_session", worktreeId=worktree.id, **given)
        return str(made["backend"])

    assert await backend() == "backend_a"
    await call("update_preferences", changes={"default_backend": "backend_b"})
    assert await backend() == "backend_b"
    await call("update_project_settings", projectId=project.id, defaultBackend="backend_c")
    assert await backend() == "backend_c"
    assert await backend(backend="backend_a") == "backend_a"


async def test_list_sessions_leaves_archived_ones_out(
    call: Call, worktree: Worktree, made: Any
) -> None:
    listed = {"worktreeId": worktree.id}
    for command in ("list_sessions", "get_sessions"):
        assert [s["id"] for s in await call(command, **listed)] == [made["id"]]
    archived = await call("archive_session", sessionId=made["id"])
    assert isinstance(archived["archived_at"], float)
    assert await call("list_sessions", **listed) == []
    assert len(await call("list_sessions", includeArchived=True, **listed)) == 1
    back = await call("unarchive_session", sessionId=made["id"])
    assert back.get("archived_at") is None


async def test_archived_at_is_present_only_when_archived(call: Call, made: Any) -> None:
    assert "archived_at" not in made
    assert "archived_at" in await call("archive_session", sessionId=made["id"])


async def test_update_session_changes_name_and_mode(call: Call, made: Any) -> None:
    changed = await call("update_session", sessionId=made["id"], name="New", executionMode="build")
    assert (changed["name"], changed["execution_mode"]) == ("New", "build")


async def test_delete_session_deletes_its_messages(call: Call, made: Any, say: Says) -> None:
    await say(made["id"], "hello")
    assert await call("delete_session", sessionId=made["id"]) is None
    told = await refusal(call, "get_messages", sessionId=made["id"])
    assert told == f"Session not found: {made['id']}"


async def test_messages_have_every_field(call: Call, made: Any, say: Says) -> None:
    sent = await say(made["id"], "hello there")
    assert set(sent) == {"message_id", "status"}
    assert sent["status"] == "processing"
    asked, answered = (await call("get_messages", sessionId=made["id"]))["messages"]
    assert set(asked) >= {"id", "role", "content", "timestamp"}
    assert (asked["id"], asked["role"]) == (sent["message_id"], "user")
    assert asked["content"] == [{"type": "text", "text": "hello there"}]
    assert answered["role"] == "assistant"
    assert set(answered["usage"]) >= USAGE_FIELDS
    whole = await call("get_session", sessionId=made["id"])
    assert [m["id"] for m in whole["messages"]] == [asked["id"], answered["id"]]


async def test_get_messages_pages_from_the_newest(call: Call, made: Any, say: Says) -> None:
    for word in ("one", "two"):
        await say(made["id"], word)
    page = await call("get_messages", sessionId=made["id"], limit=2, offset=1)
    assert [m["content"][0]["text"].strip() for m in page["messages"]] == ["one", "two"]
    assert page["total"] == 4


async def test_a_message_behind_a_run_is_sent_and_can_be_taken_back(
    call: Call, made: Any, say: Says, backend: FakeBackend
) -> None:
    backend.script = silence
    await say(made["id"], "work", until="running")
    waiting = await call("send_chat_message", sessionId=made["id"], message="and then this")
    assert waiting["status"] == "sent"
    queued = await call("list_queued_messages", sessionId=made["id"])
    assert [message["id"] for message in queued] == [waiting["message_id"]]
    taken = {"sessionId": made["id"], "messageId": waiting["message_id"]}
    assert await call("remove_queued_message", **taken) is None
    assert await call("list_queued_messages", sessionId=made["id"]) == []


@pytest.mark.parametrize("command", ["stop_generation", "cancel_chat_message"])
async def test_stop_keeps_what_had_arrived(
    call: Call, made: Any, say: Says, backend: FakeBackend, command: str, socket: Socket
) -> None:
    assert (await call(command, sessionId=made["id"]))["status"] == "idle"
    backend.script = silence
    await say(made["id"], "work", until="running")
    await socket.event("content-delta")
    await call(command, sessionId=made["id"])
    await say.until(made["id"], "idle")
    newest = (await call("get_messages", sessionId=made["id"]))["messages"][-1]
    assert newest["content"][0]["text"] == "thinking about it"


@pytest.mark.parametrize("mode", ["build", "yolo"])
async def test_approve_plan_carries_it_out_in_that_mode(
    call: Call, made: Any, say: Says, backend: FakeBackend, mode: str
) -> None:
    backend.script = plan
    await say(made["id"], "a plan", until="waiting")
    assert (await call("get_session", sessionId=made["id"]))["waiting_for"] == "plan"
    approved = await call("approve_plan", sessionId=made["id"], mode=mode)
    assert approved["execution_mode"] == mode
    await say.until(made["id"], "idle")
    told = await refusal(call, "approve_plan", sessionId=made["id"], mode="plan")
    assert told == "Invalid field 'mode': input should be 'build' or 'yolo'"


async def test_answer_question_answers_the_pending_one(
    call: Call, made: Any, say: Says, backend: FakeBackend, socket: Socket
) -> None:
    question = Question(question="Which?", options=[QuestionOption(label="A")])
    backend.script = lambda _: [QuestionAsked("q", (question,))]
    await say(made["id"], "ask me", until="waiting")
    asked = (await socket.event("session-waiting"))["payload"]
    assert set(asked) == {"session_id", "waiting_for", "request"}
    assert asked["waiting_for"] == "question"
    await call("answer_question", sessionId=made["id"], answer="A")
    await say.until(made["id"], "idle")


async def test_search_messages_finds_what_was_said(call: Call, made: Any, say: Says) -> None:
    await say(made["id"], "the shuttle of the loom")
    hits = await call("search_messages", query="shuttle")
    assert {hit["session"]["id"] for hit in hits} == {made["id"]}


async def test_reorder_sessions_is_the_order_wanted(call: Call, worktree: Worktree) -> None:
    made = [(await call("create_session", worktreeId=worktree.id))["id"] for _ in range(3)]
    wanted = [made[2], made[0], made[1]]
    assert await call("reorder_sessions", worktreeId=worktree.id, sessionIds=wanted) is None
    assert [s["id"] for s in await call("list_sessions", worktreeId=worktree.id)] == wanted


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("get_session", {}),
        ("get_messages", {}),
        ("update_session", {"name": "a"}),
        ("archive_session", {}),
        ("unarchive_session", {}),
        ("delete_session", {}),
        ("send_chat_message", {"message": "a"}),
        ("stop_generation", {}),
        ("approve_plan", {"mode": "build"}),
        ("answer_question", {"answer": "a"}),
        ("answer_permission", {"requestId": "r", "decision": "allow"}),
        ("list_queued_messages", {}),
        ("remove_queued_message", {"messageId": "m"}),
    ],
)
async def test_session_not_found(call: Call, command: str, args: dict[str, Any]) -> None:
    assert await refusal(call, command, sessionId="no", **args) == "Session not found: no"
