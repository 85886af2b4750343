"""The models of the real programs: the list, the default for a session without a chosen model, and
the fallback for an unavailable preset.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.contract.conftest import make_remote_call
from tests.live.every_backend.conftest import (
    Begin,
    begin_talk,
    connect,
    open_client,
    serve_alone,
)
from tests.live.every_backend.kinds import KINDS, Kind
from tests.live.every_backend.talk import Talk
from tests.live.provider_stub import UNKNOWN_MODEL
from tests.program import Program, Serving
from tests.server.conftest import Socket

REAL = ("claude", "codex", "opencode")
PRESET = {
    "claude": "model_2",
    "codex": "codex_model_2",
    "opencode": "backend_c/codex_model_2",
}
"""A preset that the user set to a name unknown to the provider."""
OWN = {"claude": "claude-haiku-", "codex": "gpt-5.5", "opencode": "stub/stub-1"}
"""Prefix of the reported name of the model in the user's own configuration."""
LISTED = {"claude": "sonnet", "codex": "gpt-6.1-sol", "opencode": "stub/stub-2"}

pytestmark = [
    pytest.mark.parametrize("kind", [KINDS[name] for name in REAL], ids=REAL, scope="module"),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="module")
def program(kind: Kind, place: Path) -> Any:
    with kind.program(place / "spinney") as program:
        _configure(program, kind)
        yield program


served = pytest.fixture(scope="module")(serve_alone)


def _configure(program: Program, kind: Kind) -> None:
    program.config.mkdir(exist_ok=True)
    unknown = f'[{kind.backend}]\n"{PRESET[kind.needs]}" = "stub/{UNKNOWN_MODEL}"\n'
    if kind.needs == "claude":
        unknown = unknown.replace("stub/", "")
        settings = Path(program.environ["CLAUDE_CONFIG_DIR"]) / "settings.json"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps({"model": "haiku"}))
    (program.config / "models.toml").write_text(unknown)


@pytest.fixture
async def socket(served: Serving) -> AsyncIterator[Socket]:
    async with open_client(served) as http:
        yield await connect(http, served)


@pytest.fixture
async def begin(kind: Kind, served: Serving, place: Path) -> AsyncIterator[Begin]:
    """`await begin(model)`: starts a conversation with that model, or with none chosen."""
    async with open_client(served) as http:

        async def begin(model: str | None = None) -> Talk:
            chosen = replace(kind, model=model)
            return await begin_talk(
                chosen, await connect(http, served), place / uuid4().hex, "build"
            )

        yield begin


async def test_models_are_listed_before_the_first_session(kind: Kind, socket: Socket) -> None:
    call = make_remote_call(socket)
    models = await call("list_models", backend=kind.backend)
    while not any(model["is_default"] for model in models):  # a program that starts slowly
        await socket.event("models:updated")
        models = await call("list_models", backend=kind.backend)
    offered = {model["name"]: model for model in models if model["is_offered"]}
    assert LISTED[kind.needs] in offered
    assert offered[LISTED[kind.needs]]["efforts"]
    assert offered[""]["is_default"]
    assert offered[""]["label"].startswith("Default (")
    agents = {agent["name"]: agent for agent in await call("list_agents")}
    assert agents[kind.backend]["models"] == models


async def test_a_session_without_a_chosen_model_uses_the_users_configuration(
    kind: Kind, begin: Begin
) -> None:
    talk = await begin()
    session = await talk.say("say: warp")
    assert session["answering_model"].startswith(OWN[kind.needs])
    assert _notices(talk) == []


async def test_an_unavailable_preset_falls_back_to_the_default_with_one_notice(
    kind: Kind, begin: Begin
) -> None:
    talk = await begin(PRESET[kind.needs])
    for words in ("warp", "weft"):
        session = await talk.say(f"say: {words}")
        assert await talk.last_text() == words
        assert session["last_run"]["status"] == "completed"
    # For custom providers Codex lists no models, and every preset means the default.
    assert len(_notices(talk)) == (kind.needs != "codex")
    assert session["model"] == PRESET[kind.needs]


async def test_a_model_chosen_with_the_programs_own_command_is_shown_and_kept(
    kind: Kind, begin: Begin
) -> None:
    if kind.needs != "claude":
        pytest.skip("only Claude Code has such a command")
    talk = await begin()
    await talk.say("say: warp")
    await talk.say("/model sonnet")
    session = await talk.say("say: weft")
    assert session["answering_model"].startswith("claude-sonnet-")
    assert session["model"] == session["answering_model"]


def _notices(talk: Talk) -> list[str]:
    notices = (frame for frame in talk.socket.frames if frame.get("event") == "session-notice")
    texts = [frame["payload"]["text"] for frame in notices]
    return [text for text in texts if "starting" not in text]
