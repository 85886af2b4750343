"""How the real Claude Code is started: prompts, MCP servers, profiles, sub-agents, files."""

import json
import sys
from dataclasses import replace
from pathlib import Path

from model.backends import agent_events, base
from tests.live.provider_stub import ProviderStub
from tests.model.backends.agents import (
    Open,
    find_processes_in,
    only,
    text,
)

SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    tool = {"name": "greet", "description": "Greet", "inputSchema": {"type": "object"}}
    results = {
        "initialize": {
            "protocolVersion": asked.get("params", {}).get("protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "greeter", "version": "1"},
        },
        "tools/list": {"tools": [tool]},
        "tools/call": {"content": [{"type": "text", "text": "Hello from a server"}]},
    }
    if "id" in asked:
        result = results.get(asked["method"], {})
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


async def test_changed_settings_reach_the_provider(
    open_claude: Open, provider: ProviderStub, folder: Path
) -> None:
    conversation = await open_claude(mode="plan", system_prompt="Speak of looms.")
    await conversation.turn("say: one")
    assert "Speak of looms." in str(provider.requests[-1]["system"])
    await conversation.agent.configure(base.Settings("build", "haiku", "ultrathink", "max"))
    await conversation.turn("write a.txt: x")
    assert "haiku" in provider.requests[-1]["model"]
    assert (folder / "a.txt").exists()


async def test_a_changed_system_prompt_reaches_an_existing_conversation(
    open_claude: Open, provider: ProviderStub
) -> None:
    first = await open_claude(system_prompt="Speak of looms.")
    await first.turn("say: one")
    await first.agent.close()
    known = only(first.events, agent_events.ConversationIdentified).resume_token
    again = await open_claude(system_prompt="Speak of yarn.", resume_token=known)
    await again.turn("say: two")
    sent = str(provider.requests[-1])
    assert ("Speak of yarn." in sent, "Speak of looms." in sent) == (True, False)
    assert "say: one" in sent


async def test_the_users_configured_effort_applies_if_none_was_chosen(
    open_claude: Open, provider: ProviderStub, claude_environment: dict[str, str]
) -> None:
    def effort() -> object:
        return provider.requests[-1]["output_config"]["effort"]

    own = Path(claude_environment["CLAUDE_CONFIG_DIR"]) / "settings.json"
    own.parent.mkdir(exist_ok=True)
    own.write_text(json.dumps({"effortLevel": "low"}))
    conversation = await open_claude(model="opus", effort="high", user_effort_limit="max")
    await conversation.turn("say: one")
    assert effort() == "low"
    chosen = base.Settings("build", "opus", "ultrathink", "high")
    await conversation.agent.configure(chosen)
    await conversation.turn("say: two")
    assert effort() == "high"
    own.write_text(json.dumps({"effortLevel": "xhigh"}))
    await conversation.agent.configure(replace(chosen, user_effort_limit="medium"))
    await conversation.turn("say: three")
    assert effort() == "medium", "the limit applies to the configured effort"


async def test_mcp_servers_are_listed_and_disabled_ones_are_not_started(
    open_claude: Open, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    server = {"command": sys.executable, "args": [str(tmp_path / "server.py")]}
    servers = {"looms": server, "my threads": server}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    both = await open_claude(mode="yolo")
    events = await both.turn("call: mcp__looms__greet")
    assert only(events, agent_events.McpServersListed).names == ("looms", "my threads")
    assert only(events, agent_events.ToolResult).content == "Hello from a server"
    await both.agent.close()
    one = await open_claude(
        mode="yolo", disabled_mcp_servers=frozenset({"my threads", "claude.ai Mail"})
    )
    events = await one.turn("call: mcp__my_threads__greet")
    assert only(events, agent_events.McpServersListed).names == ("looms",)
    assert only(events, agent_events.ToolResult).is_error


async def test_a_profile_overrides_the_environment_and_is_not_on_the_command_line(
    open_claude: Open, folder: Path, claude_environment: dict[str, str], provider: ProviderStub
) -> None:
    claude_environment["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"
    address = {"ANTHROPIC_BASE_URL": provider.base_url, "LOOM_KEY": "secret-of-the-loom"}
    conversation = await open_claude(mode="yolo", profile={"env": address})
    for pid in find_processes_in(folder):
        assert b"secret-of-the-loom" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    assert only(
        await conversation.turn("bash: echo $LOOM_KEY"), agent_events.ToolResult
    ).content == ("secret-of-the-loom")
    await conversation.agent.configure(base.Settings("yolo", "sonnet", "think", "max"))
    assert text(await conversation.turn("say: still there")) == "still there"


async def test_the_number_of_concurrent_sub_agents_is_limited(open_claude: Open) -> None:
    call = 'Agent {"description": "Wait", "prompt": "bash: sleep 0.2"}'
    events = await (await open_claude(mode="yolo", max_sub_agents=1)).turn(f"call: {call} & {call}")
    outer = {e.id for e in events if isinstance(e, agent_events.ToolUse) and e.name == "Agent"}
    results = [
        e for e in events if isinstance(e, agent_events.ToolResult) and e.tool_use_id in outer
    ]
    assert sorted(result.is_error for result in results) == [False, True]


async def test_without_sub_agents_their_tools_are_missing(
    open_claude: Open, provider: ProviderStub
) -> None:
    await (await open_claude(max_sub_agents=0)).turn("say: hello")
    names = {tool["name"] for tool in provider.requests[-1]["tools"]}
    assert names.isdisjoint({"Agent", "Task", "Workflow", "EnterWorktree", "Monitor"})
    assert "Bash" in names


async def test_files_reach_the_provider_by_their_content(
    open_claude: Open, folder: Path, provider: ProviderStub
) -> None:
    texts = {
        folder / "plain.txt": "the yarn is wool",
        folder / "with space.txt": "the colour is blue",
        folder / "copy (1)": "the loom is old",
        folder.parent / "outside.txt": "the shop is closed",
    }
    for file, content in texts.items():
        file.write_text(content)
    conversation = await open_claude()
    files = tuple(texts)
    await conversation.agent.send(base.Prompt("say: seen", files))
    await conversation.rest()
    sent = str(provider.requests[-1]["messages"])
    assert [content for content in texts.values() if content not in sent] == []


async def test_a_picture_reaches_the_provider(
    open_claude: Open, provider: ProviderStub, tmp_path: Path
) -> None:
    picture = tmp_path / "dot.png"
    picture.write_bytes(
        bytes.fromhex(
            "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
            "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
        )
    )
    conversation = await open_claude()
    await conversation.agent.send(base.Prompt("say: seen", images=(picture,)))
    await conversation.rest()
    assert '"type": "image"' in str(provider.requests[-1]).replace("'", '"')


async def test_text_only_has_no_tools_and_is_not_persisted(
    open_claude: Open, provider: ProviderStub, claude_environment: dict[str, str]
) -> None:
    conversation = await open_claude(mode="plan", system_prompt="You write.", text_only=True)
    assert text(await conversation.turn("say: a text")) == "a text"
    request = provider.requests[-1]
    assert not request.get("tools")
    assert "You write." in str(request["system"])
    await conversation.agent.close()
    assert list(Path(claude_environment["CLAUDE_CONFIG_DIR"]).rglob("*.jsonl")) == []
