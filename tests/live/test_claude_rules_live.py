"""Permission rules in the user's own Claude Code settings, in the modes of a session."""

import json
from pathlib import Path

import pytest

from model.backends import agent_events, base
from tests.model.backends.agents import Open, asks_permission, only

RULES = {
    "deny": ["Bash(rm *)", "Bash(git push*)", "Read(./*.key)", "Edit(./secret/**)"],
    "allow": ["Bash(mkdir *)"],
    "ask": ["Bash(touch *)", "Read(./b.txt)"],
}


@pytest.fixture
def own_rules(claude_environment: dict[str, str], folder: Path) -> None:
    """Writes the rules to the user's own settings."""
    settings = Path(claude_environment["CLAUDE_CONFIG_DIR"]) / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"permissions": RULES}))
    for name in ("a.txt", "a.key", "b.txt"):
        (folder / name).write_text("words of a file")


@pytest.mark.usefixtures("own_rules")
@pytest.mark.parametrize("mode", ["plan", "build", "yolo"])
async def test_what_the_user_denies_is_denied_in_every_mode(
    open_claude: Open, folder: Path, mode: str
) -> None:
    conversation = await open_claude(mode=mode)
    reading = json.dumps({"file_path": str(folder / "a.key")})
    for words in (
        "bash: rm a.txt",
        "bash: cd . && rm a.txt",
        "bash: git push origin HEAD",
        f"call: Read {reading}",
        "write secret/a.txt: hi",
    ):
        events = await conversation.turn(words)
        assert only(events, agent_events.ToolResult).is_error, words
        assert not asks_permission(events), words
    assert sorted(entry.name for entry in folder.iterdir()) == ["a.key", "a.txt", "b.txt"]
    control = await conversation.turn("bash: cat b.txt")
    assert "words of a file" in only(control, agent_events.ToolResult).content


@pytest.mark.usefixtures("own_rules")
async def test_what_the_user_allows_runs_without_asking_in_build_mode(
    open_claude: Open, folder: Path
) -> None:
    conversation = await open_claude()
    assert not asks_permission(await conversation.turn("bash: mkdir one"))
    assert (folder / "one").is_dir()
    await conversation.agent.send(base.Prompt("bash: mkdir two && touch /tmp/../tmp/three"))
    request = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit(request.request_id, "deny")
    await conversation.rest()
    assert not (folder / "two").exists()


@pytest.mark.usefixtures("own_rules")
@pytest.mark.parametrize("mode", ["plan", "build", "yolo"])
async def test_ask_rules_of_the_user_apply_in_every_mode(
    open_claude: Open, folder: Path, mode: str
) -> None:
    conversation = await open_claude(mode=mode)
    reading = json.dumps({"file_path": str(folder / "b.txt")})
    for words in ("bash: touch new.txt", f"call: Read {reading}"):
        await conversation.agent.send(base.Prompt(words))
        request = await conversation.until(agent_events.PermissionRequested)
        assert request.description.startswith("A rule in your Claude Code settings requires"), words
        await conversation.agent.permit(request.request_id, "deny")
        assert only(await conversation.rest(), agent_events.ToolResult).is_error, words
    assert not (folder / "new.txt").exists()


@pytest.mark.parametrize("mode", ["plan", "build", "yolo"])
async def test_a_hook_of_the_user_that_asks_applies_in_every_mode(
    open_claude: Open, claude_environment: dict[str, str], mode: str
) -> None:
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "ask"}
    saying = json.dumps({"hookSpecificOutput": answer})
    hook = {"matcher": "Bash", "hooks": [{"type": "command", "command": f"echo '{saying}'"}]}
    settings = Path(claude_environment["CLAUDE_CONFIG_DIR"]) / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [hook]}}))
    conversation = await open_claude(mode=mode)
    await conversation.agent.send(base.Prompt("bash: echo hi"))
    request = await conversation.until(agent_events.PermissionRequested)
    await conversation.agent.permit(request.request_id, "deny")
    assert only(await conversation.rest(), agent_events.ToolResult).is_error


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ('{"permissions": {"deny": ["Bash(rm *)"]}, "model": 3}', "(model: Expected string"),
        ('{"permissions": {"deny": ["Bash(rm *)"]},}', "malformed JSON)"),
    ],
)
async def test_ignored_settings_are_reported(
    open_claude: Open, claude_environment: dict[str, str], broken: str, said: str
) -> None:
    settings = Path(claude_environment["CLAUDE_CONFIG_DIR"]) / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(broken)
    conversation = await open_claude(mode="yolo")
    note = only(await conversation.turn("say: hello"), agent_events.ConversationNote)
    assert str(settings) in note.text
    assert said in note.text
