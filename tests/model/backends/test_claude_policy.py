"""Decisions about Claude Code's tools in each mode, and how its edits are shown."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from model.backends.agent_events import ToolUse
from model.backends.claude.edits import Edits
from model.backends.claude.policy import (
    EDIT_TOOLS,
    HIDDEN_TOOLS,
    OTHER_TOOLS,
    REFUSED_TOOLS,
    decide,
    decide_edit,
    decide_use,
    denial_reason,
)
from model.backends.claude.program import find_plans_folder
from model.domain.modes import ExecutionMode

MODES: Final[tuple[ExecutionMode, ...]] = ("plan", "build", "yolo")

REASONS = (
    *("rule", "mode", "hook", "workingDir", "safetyCheck", "classifier", "asyncAgent", "other"),
    *("subcommandResults", "permissionPromptTool", "sandboxOverride", "a-new-reason", ""),
)
"""The kinds of reasons for which the program asks."""

KNOWN = ("Read", "Grep", "Skill", "Agent", "Task", "Bash", "TodoWrite", "ToolSearch")

TOOLS = (
    *KNOWN, *REFUSED_TOOLS, *sorted(EDIT_TOOLS), *sorted(HIDDEN_TOOLS),
    "WebFetch", "WebSearch", "mcp__x__y", "NewTool", "Reader", "",
)  # fmt: skip

WIDTH = {"deny": 0, "ask": 1, "allow": 2}


def hook_decision(
    mode: ExecutionMode, tool: str, tool_input: Mapping[str, Any] = {}, web_in_plan: bool = True
) -> str | None:
    """What is decided before a tool is used; `None` leaves it to the program's own rules."""
    if not re.search(OTHER_TOOLS, tool):
        return None
    answer = decide_use(mode, tool, tool_input, web_in_plan)
    decision: str | None = answer.get("hookSpecificOutput", {}).get("permissionDecision")
    return decision


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tool", ["ExitPlanMode", "AskUserQuestion"])
def test_plans_and_questions_go_to_the_user_in_every_mode(mode: ExecutionMode, tool: str) -> None:
    assert decide(mode, tool, "other", True) == "ask"


@pytest.mark.parametrize("tool", sorted(EDIT_TOOLS))
def test_plan_mode_denies_edits_because_allowing_would_run_them(tool: str) -> None:
    assert decide("plan", tool, "mode", True) == "deny"


@pytest.mark.parametrize("web_in_plan", [True, False])
@pytest.mark.parametrize("tool", TOOLS)
def test_plan_mode_allows_nothing_that_build_mode_asks_about(tool: str, web_in_plan: bool) -> None:
    if tool in ("WebFetch", "WebSearch"):  # by preference
        assert decide("plan", tool, "other", web_in_plan) == ("allow" if web_in_plan else "deny")
        assert decide("plan", tool, "rule", True) == "ask"
        return
    for reason in REASONS:
        plan, build = (decide(mode, tool, reason, web_in_plan) for mode in ("plan", "build"))
        assert WIDTH[plan] <= WIDTH[build], reason
        assert build != "allow", "what the program asks about is the user's to allow"
        assert "allow" not in (decide("yolo", tool, by, web_in_plan) for by in ("rule", "hook"))
    assert hook_decision("plan", tool) == hook_decision("build", tool)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tool", REFUSED_TOOLS)
def test_no_mode_uses_a_tool_that_acts_elsewhere(mode: ExecutionMode, tool: str) -> None:
    assert hook_decision(mode, tool) == "deny"
    assert decide(mode, tool, "other", True) == "deny"
    assert "not available" in denial_reason(tool)


def test_a_tool_that_is_not_known_is_asked_about_even_if_the_program_would_just_use_it() -> None:
    for tool in ("NewTool", "Reader", "ReadMore", "xRead"):
        assert [hook_decision(mode, tool) for mode in MODES] == ["ask", "ask", None], tool
    for tool in ("mcp__x__y", *EDIT_TOOLS, *HIDDEN_TOOLS, *KNOWN):
        assert [hook_decision(mode, tool) for mode in MODES] == [None, None, None], tool


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tool", ["Agent", "Task"])
def test_no_sub_agent_gets_a_place_of_its_own(mode: ExecutionMode, tool: str) -> None:
    for isolation in ("worktree", "remote", "a-new-one"):
        assert hook_decision(mode, tool, {"prompt": "x", "isolation": isolation}) == "deny"
    assert hook_decision(mode, tool, {"prompt": "x"}) is None


@pytest.mark.parametrize(
    "path",
    [
        "~/.claude/projects/-w/memory/MEMORY.md",
        "~/.claude/agent-memory/any/notes.md",
        "~/config/projects/-w/Memory/MEMORY.md",
        "src/../.claude/agent-memory/any/notes.md",
        ".CLAUDE/agent-memory-local/any/notes.md",
        "../beside/.claude/settings.json",
    ],
)
@pytest.mark.parametrize("key", ["file_path", "notebook_path"])
def test_what_is_read_as_instructions_is_not_edited_unasked(
    tmp_path: Path, path: str, key: str
) -> None:
    edits = Edits(tmp_path / "worktree", tmp_path / "home/.claude/plans")
    assert edits.is_memory({key: path.replace("~", str(tmp_path / "home"))})
    for mode, decision in zip(MODES, ("deny", "ask", None), strict=True):
        answer = decide_edit(mode, is_plan=False, is_memory=True)
        assert answer.get("hookSpecificOutput", {}).get("permissionDecision") == decision


def test_other_edits_are_left_to_the_program_in_build_and_yolo(tmp_path: Path) -> None:
    worktree = tmp_path / ".claude/worktrees/one"  # which may itself lie in such a folder
    edits = Edits(worktree, tmp_path / "home/.claude/plans")
    for path in ("a.py", "src/memory/a.py", str(worktree / "b.py"), "/elsewhere/c.py", ""):
        assert not edits.is_memory({"file_path": path}), path
    for mode in ("build", "yolo"):
        assert decide_edit(mode, is_plan=False, is_memory=False) == {}
    assert decide_edit("plan", is_plan=False, is_memory=False) != {}
    assert all(decide_edit(mode, is_plan=True, is_memory=True) == {} for mode in MODES)


def test_a_worktree_behind_a_link_is_known_by_both_of_its_paths(tmp_path: Path) -> None:
    real, link = tmp_path / "memory/worktree", tmp_path / "link"
    real.mkdir(parents=True)
    link.symlink_to(real)
    edits = Edits(link, tmp_path / "plans")
    for root in (real, link):
        assert not edits.is_memory({"file_path": str(root / "src/memory/a.py")})
        assert edits.is_memory({"file_path": str(root / ".claude/agent-memory/a.md")})


def test_plan_mode_uses_the_web_only_if_allowed() -> None:
    assert hook_decision("plan", "WebFetch", web_in_plan=True) == "allow"
    assert hook_decision("plan", "WebFetch", web_in_plan=False) == "deny"
    assert hook_decision("build", "WebFetch", web_in_plan=False) is None
    assert hook_decision("yolo", "WebFetch", web_in_plan=False) is None
    assert "web" in denial_reason("WebSearch")


def test_a_plan_is_a_file_in_the_programs_own_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "real")
    home = {"HOME": str(tmp_path / "home")}
    edits = Edits(tmp_path, find_plans_folder(home, tmp_path))
    assert edits.is_plan({"file_path": str(tmp_path / "home" / ".claude" / "plans" / "calm.md")})
    assert edits.is_plan({"file_path": str(tmp_path / "real" / ".claude" / "plans" / "calm.md")})
    assert not edits.is_plan({"file_path": str(tmp_path / "plans" / "calm.md")})
    assert not edits.is_plan({"file_path": None})
    assert not edits.is_plan({})
    nearby = Edits(tmp_path, find_plans_folder({"CLAUDE_CONFIG_DIR": "config"}, tmp_path))
    assert nearby.is_plan({"file_path": str(tmp_path / "config" / "plans" / "calm.md")})


def test_build_mode_asks_for_tools_that_the_program_does_not_allow_itself() -> None:
    assert decide("build", "Bash", "other", True) == "ask"


def test_yolo_mode_allows_everything() -> None:
    for tool in ("Bash", "Write", "mcp__x__y", "NewTool"):
        assert decide("yolo", tool, "other", False) == "allow"


def test_an_edit_shows_the_replaced_text_and_a_path_inside_the_worktree(tmp_path: Path) -> None:
    tool_input = {"file_path": str(tmp_path / "src" / "a.py"), "old_string": "a", "new_string": "b"}
    shown = Edits(tmp_path, tmp_path / "plans").normalize(
        ToolUse("t", "Edit", tool_input, "parent")
    )
    assert (shown.name, shown.id, shown.parent_tool_use_id) == ("edit", "t", "parent")
    assert shown.input == {"file_path": "src/a.py", "old_content": "a", "new_content": "b"}


def test_a_path_outside_the_worktree_stays_absolute(tmp_path: Path) -> None:
    tool_input = {"file_path": "/etc/hosts", "old_string": "a", "new_string": "b"}
    shown = Edits(tmp_path, tmp_path / "plans").normalize(ToolUse("t", "Edit", tool_input))
    assert shown.input["file_path"] == "/etc/hosts"


def test_a_write_shows_the_previous_content(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    tool_input = {"file_path": str(tmp_path / "a.txt"), "content": "new"}
    shown = Edits(tmp_path, tmp_path / "plans").normalize(ToolUse("t", "Write", tool_input))
    assert shown.input == {"file_path": "a.txt", "old_content": "old", "new_content": "new"}


@pytest.mark.parametrize(
    ("held", "written", "shown"),
    [
        (b"a\r\nb\r\n", "a\r\nB\r\n", "a\r\nb\r\n"),
        (b"a\nb\n", "a\r\nb\r\n", "a\nb\n"),
        (b"a\r\nb\r\n", "a\nB\n", "a\nb\n"),
    ],
)
def test_a_write_is_compared_with_the_line_endings_of_the_file(
    tmp_path: Path, held: bytes, written: str, shown: str
) -> None:
    (tmp_path / "a.txt").write_bytes(held)
    tool_input = {"file_path": str(tmp_path / "a.txt"), "content": written}
    edits = Edits(tmp_path, tmp_path / "plans")
    edit = edits.normalize(ToolUse("t", "Write", tool_input))
    assert (edit.input["old_content"], edit.input["new_content"]) == (shown, written)
    assert edits.correct("t", {"originalFile": held.decode().replace("\r\n", "\n")}) is None


def test_a_write_is_corrected_if_it_happened_before_the_file_was_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("new")
    tool_input = {"file_path": str(tmp_path / "a.txt"), "content": "new"}
    edits = Edits(tmp_path, tmp_path / "plans")
    shown = edits.normalize(ToolUse("t", "Write", tool_input))
    correct = edits.correct("t", {"originalFile": "old"})
    assert correct is not None
    assert correct.id == shown.id
    assert correct.input["old_content"] == "old"


def test_a_correctly_shown_write_is_not_corrected(tmp_path: Path) -> None:
    edits = Edits(tmp_path, tmp_path / "plans")
    edits.normalize(ToolUse("t", "Write", {"file_path": "/x/new.txt", "content": "new"}))
    assert edits.correct("t", {"originalFile": None}) is None
    assert edits.correct("other", {"originalFile": "x"}) is None
    assert edits.correct("t", "an error") is None


def test_several_edits_in_one_call_are_one_edit(tmp_path: Path) -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    tool_input = {"file_path": "/x", "edits": edits}
    shown = Edits(tmp_path, tmp_path / "plans").normalize(ToolUse("t", "MultiEdit", tool_input))
    assert (shown.input["old_content"], shown.input["new_content"]) == ("a\nc", "b\nd")


def test_a_notebooks_cell_is_an_edit_too(tmp_path: Path) -> None:
    notebook = tmp_path / "n.ipynb"
    notebook.write_text(json.dumps({"cells": [{"id": "c1", "source": ["x = ", "1"]}]}))
    tool_input = {"notebook_path": str(notebook), "cell_id": "c1", "new_source": "x = 2"}
    shown = Edits(tmp_path, tmp_path / "plans").normalize(ToolUse("t", "NotebookEdit", tool_input))
    assert shown.input == {"file_path": "n.ipynb", "old_content": "x = 1", "new_content": "x = 2"}


def test_an_announced_edit_without_input_yet_has_all_its_fields(tmp_path: Path) -> None:
    shown = Edits(tmp_path, tmp_path / "plans").normalize(ToolUse("t", "Write", {}))
    assert shown.input == {"file_path": "", "old_content": "", "new_content": ""}


def test_directories_huge_files_and_binary_files_are_handled(tmp_path: Path) -> None:
    (tmp_path / "huge").write_bytes(b"x" * 2_000_000)
    (tmp_path / "binary").write_bytes(b"\xff\x00")
    edits = Edits(tmp_path, tmp_path / "plans")
    for name, old in ((".", ""), ("huge", "(too large to show)\n"), ("binary", "\ufffd\x00")):
        tool_input = {"file_path": str(tmp_path / name), "content": ""}
        assert edits.normalize(ToolUse(name, "Write", tool_input)).input["old_content"] == old
