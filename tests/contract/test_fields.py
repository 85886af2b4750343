"""Sections 2.1 to 2.4 and 2.7 of the interface: the value of every field."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.conftest import Call, Chat
from tests.model.git.repository import Repository
from tests.tables import table

Check = Callable[[Any], bool]


def is_id(value: Any) -> bool:
    return str(uuid.UUID(value, version=4)) == value


def is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def is_time(value: Any) -> bool:
    """Whether it is Unix seconds between 2023 and 2042."""
    return isinstance(value, float) and 1.7e9 < value < 2.3e9


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equals(wanted: Any) -> Check:
    return lambda value: bool(value == wanted)


def one_of(*wanted: str) -> Check:
    return lambda value: value in wanted


PROJECT: dict[str, Check] = {
    "id": is_id,
    "name": equals("project"),
    "path": lambda value: value.endswith("/project") and value.startswith("/"),
    "default_branch": equals("main"),
    "added_at": is_time,
    "order": is_number,
    "parent_id": equals(None),
    "is_folder": equals(False),
    "avatar_path": equals(None),
    "enabled_mcp_servers": equals(None),
    "known_mcp_servers": equals([]),
    "custom_system_prompt": equals(None),
    "default_provider": equals(None),
    "default_backend": equals(None),
    "worktrees_dir": equals(None),
    "tracker_api_key": equals(None),
    "tracker_team_id": equals(None),
}

WORKTREE: dict[str, Check] = {
    "id": is_id,
    "project_id": is_id,
    "name": lambda value: re.fullmatch("[a-z]+-[a-z]+", value) is not None,
    "path": lambda value: re.search("/home/spinney/project/[a-z]+-[a-z]+$", value) is not None,
    "branch": lambda value: re.fullmatch("[a-z]+-[a-z]+", value) is not None,
    "created_at": is_time,
    "session_type": equals("worktree"),
    "order": equals(0),
    "pr_number": equals(None),
    "pr_url": equals(None),
    "issue_number": equals(None),
    "label": equals(None),
    "archived_at": equals(None),
    "last_opened_at": lambda value: value is None or is_time(value),
}

CACHED: dict[str, Check] = {
    "cached_pr_status": equals(None),
    "cached_check_status": equals(None),
    "cached_behind_count": equals(1),
    "cached_ahead_count": equals(2),
    "cached_uncommitted_added": equals(3),
    "cached_uncommitted_removed": equals(1),
    "cached_branch_diff_added": equals(2),
    "cached_branch_diff_removed": equals(0),
    "cached_unpushed_count": equals(1),
    "cached_status_at": is_time,
}

SESSION: dict[str, Check] = {
    "id": is_text,
    "worktree_id": is_id,
    "name": is_text,
    "created_at": is_time,
    "execution_mode": equals("plan"),
    "model": is_text,
    "thinking_level": one_of("off", "think", "megathink", "ultrathink"),
    "backend": one_of("backend_a", "backend_b", "backend_c", "demo"),
}

MESSAGE: dict[str, Check] = {
    "id": is_text,
    "role": one_of("user", "assistant"),
    "content": lambda value: {block["type"] for block in value} <= {"text", "tool_use"},
    "timestamp": is_time,
    "usage": lambda value: all(isinstance(value[key], int) for key in USAGE),
}

USAGE = (
    "input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
)  # fmt: skip


@table("field", PROJECT)
async def test_a_project_has_the_field(project: Any, field: str) -> None:
    assert PROJECT[field](project[field]), project[field]


async def test_a_folder_has_the_fields_of_a_project(call: Call, project: Any) -> None:
    made = await call("create_folder", name=project["id"])
    assert set(made) == set(project)
    assert (made["is_folder"], made["path"], made["default_branch"]) == (True, "", "")


@table("field", WORKTREE)
async def test_a_worktree_has_the_field(worktree: Any, field: str) -> None:
    assert WORKTREE[field](worktree[field]), worktree[field]


async def test_a_worktree_of_type_base_is_the_base_directory(call: Call, project: Any) -> None:
    base = await call("open_base_worktree", projectId=project["id"])
    assert (base["session_type"], base["path"]) == ("base", project["path"])


@pytest.fixture
async def worktree_with_status(call: Call, worktree: Any, with_remote: Repository) -> Any:
    """A worktree with known git status: commits behind, ahead and pushed, uncommitted changes."""
    path = with_remote.root.joinpath(worktree["path"])
    with_remote.commit("pushed.txt", "pushed\n", cwd=path)
    with_remote.git("push", "--quiet", "origin", "HEAD", cwd=path)
    with_remote.commit("ahead.txt", "ahead\n", cwd=path)
    with_remote.write("read.me", "one\nTWO\nthree\nfour\nfive\n", cwd=path)
    with_remote.commit("behind.txt", "behind\n")
    with_remote.git("push", "--quiet", "origin", "main")
    await call("fetch_worktrees_status", projectId=worktree["project_id"])
    return await call("get_worktree", worktreeId=worktree["id"])


@table("field", CACHED)
async def test_a_worktree_with_git_status_has_the_field(
    worktree_with_status: Any, field: str
) -> None:
    assert CACHED[field](worktree_with_status[field]), worktree_with_status[field]


@table("field", SESSION)
async def test_a_session_has_the_field(session: Any, field: str) -> None:
    assert SESSION[field](session[field]), session[field]


async def test_a_session_has_archived_at_only_when_archived(call: Call, session: Any) -> None:
    assert "archived_at" not in session
    assert is_time((await call("archive_session", sessionId=session["id"]))["archived_at"])


@pytest.mark.parametrize("options", [()], ids=["without the demo agent"])
async def test_a_session_begins_with_the_global_settings(call: Call, session: Any) -> None:
    given = (session["backend"], session["model"], session["thinking_level"])
    assert given == ("backend_a", "model_1", "ultrathink")


async def test_a_session_fetched_by_id_has_its_messages(
    call: Call, session: Any, chat: Chat
) -> None:
    await chat.say(session, "/demo say hello")
    whole = await call("get_session", sessionId=session["id"])
    assert [message["role"] for message in whole["messages"]] == ["user", "assistant"]


@pytest.fixture
async def message(call: Call, session: Any, chat: Chat) -> Any:
    """An agent's message."""
    await chat.say(session, "/demo say hello")
    return (await call("get_messages", sessionId=session["id"]))["messages"][-1]


@table("field", MESSAGE)
async def test_a_message_has_the_field(message: Any, field: str) -> None:
    assert MESSAGE[field](message[field]), message[field]


async def test_content_has_text_tool_use_and_tool_result(
    call: Call, worktree: Any, chat: Chat
) -> None:
    made = await call("create_session", worktreeId=worktree["id"], executionMode="build")
    await chat.say(made, "/demo say first\n/demo write a.txt: b")
    found = await call("get_messages", sessionId=made["id"])
    text, use, result = found["messages"][-1]["content"]
    assert (text["type"], text["text"].strip()) == ("text", "first")
    assert (use["type"], use["name"]) == ("tool_use", "edit")
    assert use["input"] == {"file_path": "a.txt", "old_content": "", "new_content": "b\n"}
    assert (result["type"], result["tool_use_id"]) == ("tool_result", use["id"])
    assert result["is_error"] is False


async def test_a_branch_has_name_and_current(call: Call, project: Any) -> None:
    found = await call("get_project_branches", projectId=project["id"])
    assert all(set(branch) == {"name", "current"} for branch in found)
    assert [branch["name"] for branch in found if branch["current"]] == ["main"]


async def test_a_remote_has_name_and_url(call: Call, project: Any) -> None:
    (found,) = await call("get_git_remotes", repoPath=project["path"])
    assert set(found) == {"name", "url"}
    assert (found["name"], found["url"].endswith("/origin.git")) == ("origin", True)


async def test_a_hosting_remote_has_owner_and_repo_too(
    call: Call, project: Any, with_remote: Repository
) -> None:
    url = "git@github.com:ada/loom.git"
    with_remote.git("remote", "add", "hub", url)
    found = await call("get_github_remotes", repoPath=project["path"])
    assert found == [
        {
            "name": "hub",
            "url": url,
            "owner": "ada",
            "repo": "loom",
            "service": "github",
            "host": "github.com",
            "pull_requests_url": "https://github.com/ada/loom/pull/",
        }
    ]
