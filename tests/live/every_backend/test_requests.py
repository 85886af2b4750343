"""Plans, questions and permission requests on every backend that supports them."""

from pathlib import Path

import pytest

from tests.contract.conftest import RefusedError
from tests.live.every_backend.conftest import Begin
from tests.live.every_backend.kinds import KINDS

ASKING = {name: kind for name, kind in KINDS.items() if kind.asks}

pytestmark = pytest.mark.timeout(300)

every = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys(), scope="module")
asking = pytest.mark.parametrize("kind", ASKING.values(), ids=ASKING.keys(), scope="module")

# Claude Code refuses control characters itself; the demo's commands come from messages.
HIDING = {name: kind for name, kind in KINDS.items() if name not in ("claude", "demo")}
hiding = pytest.mark.parametrize("kind", HIDING.values(), ids=HIDING.keys(), scope="module")

PROPOSED = [
    "message processing",
    "answer begins",
    "text",
    "plan",
    "waits for plan",
]


@every
async def test_a_plan_waits_and_is_carried_out_when_approved(begin: Begin) -> None:
    talk = await begin("plan")
    waiting = await talk.say("plan: woven", until="waiting")
    assert talk.shape() == PROPOSED
    assert "woven" in waiting["request"]["plan"]
    assert not (Path(talk.worktree["path"]) / "planned.txt").exists()
    await talk.do("approve_plan", mode="build", requestId=waiting["request"]["id"])
    session = await talk.until("idle")
    assert session["execution_mode"] == "build"
    assert "woven" in (Path(talk.worktree["path"]) / "planned.txt").read_text()
    assert talk.shape()[len(PROPOSED) :] == [
        "waits for nothing",
        "plan, build",
        "edit planned.txt",
        "result",
        "text",
        "answer ends: end_turn",
    ]
    assert await talk.stored() == [
        "user text",
        "assistant text",
        "assistant plan, build",
        "assistant edit planned.txt",
        "assistant result",
        "assistant text",
    ]


@every
async def test_a_discussed_plan_is_replaced(begin: Begin) -> None:
    talk = await begin("plan")
    first = (await talk.say("plan: woven", until="waiting"))["request"]
    await talk.call("send_chat_message", sessionId=talk.session["id"], message="softer")
    while (second := await talk.until("waiting"))["request"]["id"] == first["id"]:
        await talk.socket.receive()
    assert second["request"]["plan"] != first["plan"]
    with pytest.raises(RefusedError, match="replaced"):
        await talk.do("approve_plan", mode="build", requestId=first["id"])
    await talk.do("approve_plan", mode="yolo", requestId=second["request"]["id"])
    assert (await talk.until("idle"))["execution_mode"] == "yolo"
    assert (Path(talk.worktree["path"]) / "planned.txt").exists()


@asking
async def test_a_question_waits_for_its_answer(begin: Begin) -> None:
    talk = await begin()
    request = (await talk.say("ask: Wool or silk? | wool | silk", until="waiting"))["request"]
    (question,) = request["questions"]
    assert question["question"] == "Wool or silk?"
    assert [option["label"] for option in question["options"]] == ["wool", "silk"]
    await talk.do("answer_question", answer="silk", requestId=request["id"])
    await talk.until("idle")
    assert "silk" in await talk.last_text()
    assert talk.shape() == [
        "message processing",
        "answer begins",
        "question",
        "waits for question",
        "waits for nothing",
        "question, answered",
        "text",
        "answer ends: end_turn",
    ]


@asking
async def test_a_question_is_dismissed_by_a_stop(begin: Begin) -> None:
    talk = await begin()
    await talk.say("ask: Wool or silk? | wool | silk", until="waiting")
    await talk.do("stop_generation")
    assert (await talk.until("idle"))["request"] is None
    await talk.say("say: on we go")
    assert await talk.last_text() == "on we go"


@every
async def test_allowing_for_the_session_covers_exactly_that_command(begin: Begin) -> None:
    talk = await begin()
    for text, is_asked in (
        ("6 * 7", True),
        ("6 * 7", False),
        ("6 * 8", True),
        ("6 * 7)' && python3 -c 'print(6 * 8", True),  # a chain that contains the allowed command
    ):
        await talk.send(f"bash: python3 -c 'print({text})'")
        session = await talk.until("waiting" if is_asked else "idle")
        if is_asked:
            request = session["request"]
            assert request["session_scope"] == "exactly this command, in build mode"
            assert request["execution_mode"] == "build"
            assert Path(request["directory"]) == Path(talk.worktree["path"])
            await talk.do("answer_permission", requestId=request["id"], decision="allow_session")
            await talk.until("idle")


@hiding
async def test_a_command_is_shown_with_its_control_characters(begin: Begin) -> None:
    talk = await begin()
    await talk.send("""bash: python3 -c 'print(ascii("␛]0; hidden ␇"))'""")
    request = (await talk.until("waiting"))["request"]
    assert "␛]0; hidden ␇" in str(request["tool_input"])
    await talk.do("answer_permission", requestId=request["id"], decision="allow")
    await talk.until("idle")
    messages = (await talk.do("get_messages"))["messages"]
    results = [block for block in messages[-1]["content"] if block["type"] == "tool_result"]
    assert r"\x1b]0; hidden \x07" in results[-1]["content"]
