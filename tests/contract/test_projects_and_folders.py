"""Sections 2.1, 4.4, 7 and 8 of the interface: projects and folders."""

import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import Call, expect_error, receive_payload
from tests.model.git.repository import Repository
from tests.server.conftest import Socket

PROJECT_FIELDS = {
    "id", "name", "path", "default_branch", "added_at", "order", "parent_id", "is_folder",
    "avatar_path", "enabled_mcp_servers", "known_mcp_servers", "custom_system_prompt",
    "default_provider", "default_backend", "worktrees_dir", "tracker_api_key", "tracker_team_id",
}  # fmt: skip


async def list_names(call: Call, parent_id: str | None = None) -> list[str]:
    """The names of a folder's items, in order."""
    return [item["name"] for item in await call("list_projects") if item["parent_id"] == parent_id]


async def create_folder(call: Call, name: str, parent_id: str | None = None) -> Any:
    return await call("create_folder", name=name, parentId=parent_id)


async def test_add_project_returns_every_field_of_a_project(
    call: Call, repository_path: str
) -> None:
    made = await call("add_project", path=repository_path)
    assert set(made) >= PROJECT_FIELDS
    assert str(uuid.UUID(made["id"], version=4)) == made["id"]
    assert (made["name"], made["path"], made["default_branch"]) == (
        "project",
        repository_path,
        "main",
    )
    assert (made["order"], made["parent_id"], made["is_folder"]) == (0, None, False)
    assert await call("list_projects") == [made]


async def test_add_project_adds_to_a_folder(call: Call, repository_path: str) -> None:
    work = await create_folder(call, "Work")
    assert (await call("add_project", path=repository_path, parentId=work["id"]))[
        "parent_id"
    ] == work["id"]


async def test_add_project_refuses_paths_that_are_not_repositories(
    call: Call, tmp_path: Any
) -> None:
    wrong = str(tmp_path)
    for path in (wrong, wrong + "/missing", "relative"):
        assert await expect_error(call, "add_project", path=path) == (
            f"Path is not a git repository: {path}"
        )


async def test_add_project_refuses_an_existing_project(call: Call, repository_path: str) -> None:
    await call("add_project", path=repository_path)
    assert (
        await expect_error(call, "add_project", path=repository_path)
        == f"Project already exists: {repository_path}"
    )


async def test_remove_project_leaves_the_files(
    call: Call, repository_path: str, repository: Repository
) -> None:
    made = await call("add_project", path=repository_path)
    assert await call("remove_project", projectId=made["id"]) is None
    assert await call("list_projects") == []
    assert repository.git("status", "--porcelain") == ""


async def test_update_project_settings_changes_the_given_settings(
    call: Call, repository_path: str, repository: Repository, tmp_path: Path
) -> None:
    repository.git("branch", "next")
    made = await call("add_project", path=repository_path)
    changed = await call(
        "update_project_settings",
        projectId=made["id"],
        defaultBranch="next",
        customSystemPrompt="Be brief.",
        enabledMcpServers=["files"],
        defaultProvider="work",
        worktreesDir=str(tmp_path / "trees" / "deep"),
        defaultBackend="backend_b",
    )
    settings = {
        "default_branch": "next",
        "custom_system_prompt": "Be brief.",
        "enabled_mcp_servers": ["files"],
        "default_provider": "work",
        "worktrees_dir": str(tmp_path / "trees" / "deep"),
        "default_backend": "backend_b",
    }
    assert changed == {**made, **settings}
    assert not (tmp_path / "trees").exists(), "created with the first worktree"


@pytest.mark.parametrize(
    ("field", "own", "none"),
    [
        ("customSystemPrompt", "Be brief.", ""),
        ("defaultProvider", "work", ""),
        ("defaultBackend", "backend_b", ""),
        ("worktreesDir", "~/trees", ""),
        ("enabledMcpServers", ["files"], None),
        ("enabledMcpServers", [], None),
    ],
)
async def test_a_setting_of_a_project_can_be_reset(
    call: Call, repository_path: str, own_home: Path, field: str, own: Any, none: Any
) -> None:
    made = await call("add_project", path=repository_path)
    changed = await call("update_project_settings", projectId=made["id"], **{field: own})
    assert changed != made
    left = await call("update_project_settings", projectId=made["id"])
    assert left == changed, "other settings do not change"
    assert await call("update_project_settings", projectId=made["id"], **{field: none}) == made


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("trees", "must be an absolute path"),
        ("../trees", "must be an absolute path"),
        ("/proc/trees", "cannot create a directory there ("),
        ("{file}/trees", "cannot create a directory there ("),
        ("~no-such-user/trees", "unknown user"),
    ],
)
async def test_worktrees_dir_must_be_absolute_and_writable(
    call: Call, repository_path: str, place: str, reason: str
) -> None:
    made = await call("add_project", path=repository_path)
    given = place.format(file=f"{repository_path}/read.me")
    error = await expect_error(
        call, "update_project_settings", projectId=made["id"], worktreesDir=given
    )
    assert error.startswith(f"Invalid field 'worktreesDir': {reason}")


async def test_the_demo_agent_can_be_the_default_backend_of_a_project(
    call: Call, repository_path: str
) -> None:
    made = await call("add_project", path=repository_path)
    given = {"projectId": made["id"], "defaultBackend": "demo"}
    assert (await call("update_project_settings", **given))["default_backend"] == "demo"
    unknown = {**given, "defaultBackend": "backend_z"}
    error = await expect_error(call, "update_project_settings", **unknown)
    assert "must be one of 'demo', 'backend_a', " in error


async def test_commands_that_change_nothing_send_no_event(
    call: Call, listener: Socket, repository_path: str
) -> None:
    made = await call("add_project", path=repository_path)
    work = await create_folder(call, "Work")
    prompt = {"projectId": made["id"], "customSystemPrompt": "Be brief."}
    await call("update_project_settings", **prompt)
    assert (await receive_payload(listener, "project:updated"))["id"] == made["id"]
    await call("update_project_settings", **prompt)
    await call("update_project_settings", projectId=made["id"])
    await call("rename_folder", folderId=work["id"], name="Work")
    await call("move_item", itemId=work["id"], newParentId=None)
    await call("rename_folder", folderId=work["id"], name="Play")
    assert (await receive_payload(listener, "project:updated"))["name"] == "Play"


async def test_folder_commands_refuse_a_project(call: Call, repository_path: str) -> None:
    made = await call("add_project", path=repository_path)
    expected = f"Folder not found: {made['id']}"
    for command, args in (
        ("rename_folder", {"folderId": made["id"], "name": "a"}),
        ("delete_folder", {"folderId": made["id"]}),
        ("create_folder", {"name": "a", "parentId": made["id"]}),
        ("move_item", {"itemId": made["id"], "newParentId": made["id"]}),
    ):
        assert await expect_error(call, command, **args) == expected


@pytest.mark.parametrize("index", ["1", True, 1.5, -1])
async def test_move_item_refuses_an_invalid_index(call: Call, index: Any) -> None:
    made = await create_folder(call, "a")
    args = {"itemId": made["id"], "newParentId": None, "targetIndex": index}
    assert (await expect_error(call, "move_item", **args)).startswith(
        "Invalid field 'targetIndex': must be "
    )


async def test_update_project_settings_refuses_an_unknown_branch(
    call: Call, repository_path: str
) -> None:
    made = await call("add_project", path=repository_path)
    error = await expect_error(
        call, "update_project_settings", projectId=made["id"], defaultBranch="nowhere"
    )
    assert error == "Invalid field 'defaultBranch': no branch 'nowhere'"


async def test_create_folder_returns_a_project_that_is_a_folder(call: Call) -> None:
    made = await create_folder(call, "Work")
    assert set(made) >= PROJECT_FIELDS
    assert (made["name"], made["is_folder"]) == ("Work", True)
    assert (made["path"], made["default_branch"]) == ("", "")


async def test_a_folder_name_is_unique_in_its_parent(call: Call) -> None:
    work = await create_folder(call, "Work")
    assert (
        await expect_error(call, "create_folder", name="Work") == "Folder name already exists: Work"
    )
    inner = await create_folder(call, "Work", work["id"])
    home = await create_folder(call, "Home")
    expected = "Folder name already exists: Work"
    assert await expect_error(call, "rename_folder", folderId=home["id"], name="Work") == expected
    assert await expect_error(call, "move_item", itemId=inner["id"], newParentId=None) == expected
    assert (await call("rename_folder", folderId=work["id"], name="Work"))["name"] == "Work"


async def test_rename_folder_returns_the_folder(call: Call) -> None:
    made = await create_folder(call, "Work")
    assert await call("rename_folder", folderId=made["id"], name="Play") == {**made, "name": "Play"}
    assert (await expect_error(call, "rename_folder", folderId=made["id"], name=" ")).startswith(
        "Invalid field 'name': "
    )


async def test_delete_folder_deletes_only_an_empty_one(call: Call, repository_path: str) -> None:
    work = await create_folder(call, "Work")
    made = await call("add_project", path=repository_path, parentId=work["id"])
    error = await expect_error(call, "delete_folder", folderId=work["id"])
    assert error == "Cannot delete non-empty folder"
    await call("move_item", itemId=made["id"], newParentId=None)
    assert await call("delete_folder", folderId=work["id"]) is None
    assert await list_names(call) == ["project"]


async def test_folders_are_nested_three_levels_at_most(call: Call, repository_path: str) -> None:
    first = await create_folder(call, "1")
    second = await create_folder(call, "2", first["id"])
    third = await create_folder(call, "3", second["id"])
    too_deep = "Would exceed max nesting depth"
    error = await expect_error(call, "create_folder", name="4", parentId=third["id"])
    assert error == too_deep
    other = await create_folder(call, "a")
    await create_folder(call, "b", other["id"])
    error = await expect_error(call, "move_item", itemId=other["id"], newParentId=second["id"])
    assert error == too_deep
    assert (await call("move_item", itemId=other["id"], newParentId=first["id"]))[
        "parent_id"
    ] == first["id"]
    made = await call("add_project", path=repository_path, parentId=third["id"])
    assert made["parent_id"] == third["id"]


async def test_nothing_is_moved_into_itself(call: Call) -> None:
    first = await create_folder(call, "1")
    second = await create_folder(call, "2", first["id"])
    circular = "Cannot move item into itself or descendant"
    for target in (first, second):
        error = await expect_error(call, "move_item", itemId=first["id"], newParentId=target["id"])
        assert error == circular


async def test_move_item_inserts_at_the_given_index(call: Call) -> None:
    made = [await create_folder(call, name) for name in "abc"]
    moved = await call("move_item", itemId=made[2]["id"], newParentId=None, targetIndex=0)
    assert (moved["name"], moved["order"]) == ("c", 0)
    assert await list_names(call) == ["c", "a", "b"]
    await call("move_item", itemId=made[2]["id"], newParentId=None, targetIndex=1)
    assert await list_names(call) == ["a", "c", "b"]
    await call("move_item", itemId=made[0]["id"], newParentId=None, targetIndex=99)
    assert await list_names(call) == ["c", "b", "a"]
    await call("move_item", itemId=made[2]["id"], newParentId=made[0]["id"])
    assert await list_names(call) == ["b", "a"]
    assert await list_names(call, made[0]["id"]) == ["c"]


async def test_move_item_requires_a_parent(call: Call) -> None:
    made = await create_folder(call, "a")
    assert await expect_error(call, "move_item", itemId=made["id"]) == "Missing field: newParentId"


async def test_reorder_projects_sets_the_order(call: Call) -> None:
    made = [await create_folder(call, name) for name in "abcd"]
    wanted = [made[3]["id"], made[1]["id"]]
    assert await call("reorder_projects", projectIds=wanted) is None
    assert await list_names(call) == ["d", "b", "a", "c"]
    orders = [item["order"] for item in await call("list_projects")]
    assert orders == sorted(orders)


async def test_get_project_branches_marks_the_current_one(
    call: Call, repository_path: str, repository: Repository
) -> None:
    repository.git("branch", "next")
    made = await call("add_project", path=repository_path)
    found = await call("get_project_branches", projectId=made["id"])
    assert sorted(found, key=lambda branch: branch["name"]) == [
        {"name": "main", "current": True},
        {"name": "next", "current": False},
    ]


async def test_get_git_remotes_and_get_github_remotes_show_no_credentials(
    call: Call, repository_path: str, repository: Repository
) -> None:
    repository.git("remote", "add", "origin", "https://ada:secret@github.com/ada/loom.git")
    repository.git("remote", "add", "backup", "/srv/loom.git")
    origin = {"name": "origin", "url": "https://github.com/ada/loom.git"}
    assert await call("get_git_remotes", repoPath=repository_path) == [
        origin,
        {"name": "backup", "url": "/srv/loom.git"},
    ]
    (found,) = await call("get_github_remotes", repoPath=repository_path)
    assert found == {**found, **origin, "owner": "ada", "repo": "loom"}


@pytest.mark.parametrize("command", ["get_git_remotes", "get_github_remotes"])
async def test_remotes_are_listed_only_of_repositories(
    call: Call, command: str, tmp_path: Any
) -> None:
    error = await expect_error(call, command, repoPath=str(tmp_path))
    assert error == f"Path is not a git repository: {tmp_path}"
