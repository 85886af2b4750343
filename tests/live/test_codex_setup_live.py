"""Session settings, files and MCP servers passed to the real Codex."""

from pathlib import Path

from model.backends import agent_events, base
from tests.live.responses_stub import ResponsesStub
from tests.model.backends.agents import (
    Open,
    only,
    text,
)

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


async def test_changed_settings_reach_the_provider(
    open_codex: Open, responses: ResponsesStub, codex_environment: dict[str, str]
) -> None:
    configured = Path(codex_environment["CODEX_HOME"]) / "config.toml"
    configured.write_text(f'model_reasoning_effort = "xhigh"\n{configured.read_text()}')
    conversation = await open_codex(system_prompt="Speak of looms.", effort="low")
    await conversation.turn("say: one")
    first = responses.requests[-1]
    assert "Speak of looms." in str(first["input"])
    assert (first["model"], first["reasoning"]["effort"]) == ("gpt-5.5", "low")
    own = base.Settings("build", "gpt-6-sol", "ultrathink", "high", user_effort_limit="max")
    await conversation.agent.configure(own)
    await conversation.turn("say: one and a half")
    assert responses.requests[-1]["reasoning"]["effort"] == "xhigh"
    settings = base.Settings("build", "gpt-6-sol", "off", "max")
    await conversation.agent.configure(settings)
    events = await conversation.turn("think: hard")
    second = responses.requests[-1]
    assert (second["model"], second["reasoning"]["effort"]) == ("gpt-6-sol", "max")
    assert text(events, "thinking") == ""


async def test_the_web_can_be_disabled_in_plan_mode(
    open_codex: Open, responses: ResponsesStub
) -> None:
    def searches() -> bool:
        return "web_search" in {tool["type"] for tool in responses.requests[-1]["tools"]}

    conversation = await open_codex(mode="plan", web_in_plan=False)
    await conversation.turn("say: one")
    assert not searches()
    await conversation.agent.configure(base.Settings("build", "gpt-5.5", web_in_plan=False))
    events = await conversation.turn("remember?")
    assert searches()
    assert "say: one" in text(events)
    assert only(events, agent_events.TurnFinished).usage.input_tokens == 100


async def test_text_only_has_no_tools_and_is_not_persisted(
    open_codex: Open, responses: ResponsesStub, codex_environment: dict[str, str]
) -> None:
    conversation = await open_codex(mode="plan", system_prompt="You write.", text_only=True)
    assert text(await conversation.turn("say: a title")) == "a title"
    request = responses.requests[-1]
    names = {tool.get("name") for tool in request.get("tools", ())}
    assert not names & {"exec_command", "write_stdin", "update_plan", "spawn_agent"}
    assert "You write." in str(request["input"]) + str(request.get("instructions"))
    assert "You are Codex" not in str(request)
    assert not list(Path(codex_environment["CODEX_HOME"]).glob("sessions/**/*.jsonl"))


async def test_files_and_pictures_reach_the_provider(
    open_codex: Open, responses: ResponsesStub, worktree: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "dot.png"
    picture.write_bytes(PIXEL)
    conversation = await open_codex()
    prompt = base.Prompt("say: seen", files=(worktree / "a.py",), images=(picture,))
    await conversation.agent.send(prompt)
    await conversation.rest()
    sent = str(responses.requests[-1]["input"])
    assert "say: seen\\n@a.py" in sent
    assert "input_image" in sent


async def test_sub_agents_can_be_disabled(open_codex: Open, responses: ResponsesStub) -> None:
    await (await open_codex(model="gpt-5.2", max_sub_agents=0)).turn("say: one")
    assert "spawn_agent" not in str(responses.requests[-1].get("tools"))
    await (await open_codex(model="gpt-5.2", max_sub_agents=2)).turn("say: one")
    assert "spawn_agent" in str(responses.requests[-1]["tools"])


async def test_the_users_mcp_servers_are_listed_and_can_be_disabled(
    open_codex: Open, codex_environment: dict[str, str], place: Path
) -> None:
    settings = Path(codex_environment["CODEX_HOME"]) / "config.toml"
    servers = "".join(
        f"[mcp_servers.{name}]\ncommand = '/bin/sh'\n"
        f"args = ['-c', 'touch {place / name}; cat']\nstartup_timeout_sec = 1\n"
        for name in ("spindle", "wheel")
    )
    settings.write_text(settings.read_text() + servers)
    conversation = await open_codex(disabled_mcp_servers=frozenset({"wheel"}))
    await conversation.turn("say: one")
    assert only(conversation.events, agent_events.McpServersListed).names == ("spindle", "wheel")
    assert (place / "spindle").exists()
    assert not (place / "wheel").exists()


async def test_what_codex_ignores_is_reported_once_with_the_fix(
    open_codex: Open, codex_environment: dict[str, str], worktree: Path, place: Path
) -> None:
    (worktree / ".codex").mkdir()
    (worktree / ".codex" / "config.toml").write_text("model = 'gpt-5.2'\n")
    settings = Path(codex_environment["CODEX_HOME"]) / "config.toml"
    hook = f"type = 'command'\ncommand = 'touch {place}/hooked'\n"
    settings.write_text(
        settings.read_text()
        + "[mcp_servers.broken]\ncommand = '/bin/false'\n"
        + f"[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\n{hook}"
    )
    events = await (await open_codex()).turn("say: one")
    notes = sorted(
        event.text for event in events if isinstance(event, agent_events.ConversationNote)
    )
    hooks, project, server = notes
    assert f"the settings and hooks in {worktree}/.codex: you have not trusted" in project
    assert server.startswith("The MCP server broken did not start")
    assert "Codex ignores one of your hooks (userPromptSubmit)" in hooks
    assert "`/hooks`" in hooks
    assert not (place / "hooked").exists()
    events = await (await open_codex()).turn("say: two")
    (again,) = (event.text for event in events if isinstance(event, agent_events.ConversationNote))
    assert again.startswith("The MCP server broken did not start")
