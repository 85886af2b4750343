"""What a session sets for the real Codex, and what is handed to it."""

from pathlib import Path

from model.backends import base
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
    own = base.Settings("build", "gpt-6-sol", "ultrathink", "high", most_of_own_effort="max")
    await conversation.agent.configure(own)
    await conversation.turn("say: one and a half")
    assert responses.requests[-1]["reasoning"]["effort"] == "xhigh"
    settings = base.Settings("build", "gpt-6-sol", "off", "max")
    await conversation.agent.configure(settings)
    told = await conversation.turn("think: hard")
    second = responses.requests[-1]
    assert (second["model"], second["reasoning"]["effort"]) == ("gpt-6-sol", "max")
    assert text(told, "thinking") == ""


async def test_the_web_is_off_in_plan_mode_where_the_person_wants_that(
    open_codex: Open, responses: ResponsesStub
) -> None:
    def searches() -> bool:
        return "web_search" in {tool["type"] for tool in responses.requests[-1]["tools"]}

    conversation = await open_codex(mode="plan", web_in_plan=False)
    await conversation.turn("say: one")
    assert not searches()
    await conversation.agent.configure(base.Settings("build", "gpt-5.5", web_in_plan=False))
    told = await conversation.turn("remember?")
    assert searches()
    assert "say: one" in text(told)
    assert only(told, base.TurnFinished).usage.input_tokens == 100


async def test_for_a_text_only_there_are_no_tools_and_nothing_is_remembered(
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
    told = str(responses.requests[-1]["input"])
    assert "say: seen\\n@a.py" in told
    assert "input_image" in told


async def test_no_sub_agents_where_none_are_wanted(
    open_codex: Open, responses: ResponsesStub
) -> None:
    await (await open_codex(model="gpt-5.2", sub_agents=0)).turn("say: one")
    assert "spawn_agent" not in str(responses.requests[-1].get("tools"))
    await (await open_codex(model="gpt-5.2", sub_agents=2)).turn("say: one")
    assert "spawn_agent" in str(responses.requests[-1]["tools"])


async def test_the_servers_of_the_person_are_told_and_can_be_off(
    open_codex: Open, codex_environment: dict[str, str], place: Path
) -> None:
    settings = Path(codex_environment["CODEX_HOME"]) / "config.toml"
    servers = "".join(
        f"[mcp_servers.{name}]\ncommand = '/bin/sh'\n"
        f"args = ['-c', 'touch {place / name}; cat']\nstartup_timeout_sec = 1\n"
        for name in ("spindle", "wheel")
    )
    settings.write_text(settings.read_text() + servers)
    conversation = await open_codex(mcp_off=frozenset({"wheel"}))
    await conversation.turn("say: one")
    assert only(conversation.told, base.McpServersSeen).names == ("spindle", "wheel")
    assert (place / "spindle").exists()
    assert not (place / "wheel").exists()


async def test_what_codex_leaves_out_is_said_once_with_what_to_do(
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
    told = await (await open_codex()).turn("say: one")
    notes = sorted(event.text for event in told if isinstance(event, base.Note))
    hooks, project, server = notes
    assert f"the settings and hooks in {worktree}/.codex: you have not trusted" in project
    assert server.startswith("The MCP server broken did not start")
    assert "Codex ignores one of your hooks (userPromptSubmit)" in hooks
    assert "`/hooks`" in hooks
    assert not (place / "hooked").exists()
    told = await (await open_codex()).turn("say: two")
    (again,) = (event.text for event in told if isinstance(event, base.Note))
    assert again.startswith("The MCP server broken did not start")
