"""Sections 2.1, 4.4, 7 and 8 of the interface: projects, folders, and where they lie."""

import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import Call, payload_of, refusal
from tests.model.git.made_repository import Repository
from tests.server.conftest import Socket

PROJECT_FIELDS = {
    "id", "name", "path", "default_branch", "added_at", "order", "parent_id", "is_folder",
    "avatar_path", "enabled_mcp_servers", "known_mcp_servers", "custom_system_prompt",
    "default_provider", "default_backend", "worktrees_dir", "tracker_api_key", "tracker_team_id",
}  # fmt: skip


async def names(call: Call, parent_id: str | None = None) -> list[str]:
    """What lies in a folder, from top to bottom."""
    return [item["name"] for item in await call("list_projects") if item["parent_id"] == parent_id]


async def folder(call: Call, name: str, parent_id: str | None = None) -> Any:
    return await call("create_folder", name=name, parentId=parent_id)


async def test_add_project_gives_every_field_of_a_project(call: Call, alpha: str) -> None:
    made = await call("add_project", path=alpha)
    assert set(made) >= PROJECT_FIELDS
    assert str(uuid.UUID(made["id"], version=4)) == made["id"]
    assert (made["name"], made["path"], made["default_branch"]) == ("project", alpha, "main")
    assert (made["order"], made["parent_id"], made["is_folder"]) == (0, None, False)
    assert await call("list_projects") == [made]


async def test_add_project_puts_it_into_a_folder(call: Call, alpha: str) -> None:
    work = await folder(call, "Work")
    assert (await call("add_project", path=alpha, parentId=work["id"]))["parent_id"] == work["id"]


async def test_add_project_refuses_what_is_no_repository(call: Call, tmp_path: Any) -> None:
    wrong = str(tmp_path)
    for path in (wrong, wrong + "/missing", "relative"):
        assert await refusal(call, "add_project", path=path) == (
            f"Path is not a git repository: {path}"
        )


async def test_add_project_of_one_already_there_names_it(call: Call, alpha: str) -> None:
    await call("add_project", path=alpha)
    assert await refusal(call, "add_project", path=alpha) == f"Project already exists: {alpha}"


async def test_remove_project_leaves_the_files(
    call: Call, alpha: str, repository: Repository
) -> None:
    made = await call("add_project", path=alpha)
    assert await call("remove_project", projectId=made["id"]) is None
    assert await call("list_projects") == []
    assert repository.git("status", "--porcelain") == ""


async def test_update_project_settings_changes_what_is_given(
    call: Call, alpha: str, repository: Repository, tmp_path: Path
) -> None:
    repository.git("branch", "next")
    made = await call("add_project", path=alpha)
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
    assert not (tmp_path / "trees").exists(), "made with the first worktree"


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
async def test_a_projects_own_setting_is_given_up(
    call: Call, alpha: str, own_home: Path, field: str, own: Any, none: Any
) -> None:
    made = await call("add_project", path=alpha)
    changed = await call("update_project_settings", projectId=made["id"], **{field: own})
    assert changed != made
    left = await call("update_project_settings", projectId=made["id"])
    assert left == changed, "what is not given stays"
    assert await call("update_project_settings", projectId=made["id"], **{field: none}) == made


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("trees", "must be an absolute path"),
        ("../trees", "must be an absolute path"),
        ("/proc/trees", "cannot create a directory there ("),
        ("{file}/trees", "cannot create a directory there ("),
        ("~nobody-here/trees", "unknown user"),
    ],
)
async def test_worktrees_dir_is_where_directories_can_be_made(
    call: Call, alpha: str, place: str, why: str
) -> None:
    made = await call("add_project", path=alpha)
    given = place.format(file=f"{alpha}/read.me")
    told = await refusal(call, "update_project_settings", projectId=made["id"], worktreesDir=given)
    assert told.startswith(f"Invalid field 'worktreesDir': {why}")


async def test_the_demo_agent_is_a_projects_own_with_demo_alone(call: Call, alpha: str) -> None:
    made = await call("add_project", path=alpha)
    given = {"projectId": made["id"], "defaultBackend": "demo"}
    assert (await call("update_project_settings", **given))["default_backend"] == "demo"
    unknown = {**given, "defaultBackend": "backend_z"}
    told = await refusal(call, "update_project_settings", **unknown)
    assert "must be one of 'demo', 'backend_a', " in told


async def test_what_changes_nothing_is_not_told(call: Call, listener: Socket, alpha: str) -> None:
    made = await call("add_project", path=alpha)
    work = await folder(call, "Work")
    prompt = {"projectId": made["id"], "customSystemPrompt": "Be brief."}
    await call("update_project_settings", **prompt)
    assert (await payload_of(listener, "project:updated"))["id"] == made["id"]
    await call("update_project_settings", **prompt)
    await call("update_project_settings", projectId=made["id"])
    await call("rename_folder", folderId=work["id"], name="Work")
    await call("move_item", itemId=work["id"], newParentId=None)
    await call("rename_folder", folderId=work["id"], name="Play")
    assert (await payload_of(listener, "project:updated"))["name"] == "Play"


async def test_a_project_is_no_folder(call: Call, alpha: str) -> None:
    made = await call("add_project", path=alpha)
    expected = f"Folder not found: {made['id']}"
    for command, args in (
        ("rename_folder", {"folderId": made["id"], "name": "a"}),
        ("delete_folder", {"folderId": made["id"]}),
        ("create_folder", {"name": "a", "parentId": made["id"]}),
        ("move_item", {"itemId": made["id"], "newParentId": made["id"]}),
    ):
        assert await refusal(call, command, **args) == expected


@pytest.mark.parametrize("index", ["1", True, 1.5, -1])
async def test_move_item_takes_a_whole_number_only(call: Call, index: Any) -> None:
    made = await folder(call, "a")
    args = {"itemId": made["id"], "newParentId": None, "targetIndex": index}
    assert (await refusal(call, "move_item", **args)).startswith(
        "Invalid field 'targetIndex': must be "
    )


async def test_update_project_settings_refuses_a_branch_that_is_not_there(
    call: Call, alpha: str
) -> None:
    made = await call("add_project", path=alpha)
    told = await refusal(
        call, "update_project_settings", projectId=made["id"], defaultBranch="nowhere"
    )
    assert told == "Invalid field 'defaultBranch': no branch 'nowhere'"


async def test_create_folder_gives_a_project_that_is_a_folder(call: Call) -> None:
    made = await folder(call, "Work")
    assert set(made) >= PROJECT_FIELDS
    assert (made["name"], made["is_folder"]) == ("Work", True)
    assert (made["path"], made["default_branch"]) == ("", "")


async def test_a_folder_name_is_unique_where_it_lies(call: Call) -> None:
    work = await folder(call, "Work")
    assert await refusal(call, "create_folder", name="Work") == "Folder name already exists: Work"
    inner = await folder(call, "Work", work["id"])
    home = await folder(call, "Home")
    expected = "Folder name already exists: Work"
    assert await refusal(call, "rename_folder", folderId=home["id"], name="Work") == expected
    assert await refusal(call, "move_item", itemId=inner["id"], newParentId=None) == expected
    assert (await call("rename_folder", folderId=work["id"], name="Work"))["name"] == "Work"


async def test_rename_folder_gives_the_folder(call: Call) -> None:
    made = await folder(call, "Work")
    assert await call("rename_folder", folderId=made["id"], name="Play") == {**made, "name": "Play"}
    assert (await refusal(call, "rename_folder", folderId=made["id"], name=" ")).startswith(
        "Invalid field 'name': "
    )


async def test_delete_folder_takes_an_empty_one_only(call: Call, alpha: str) -> None:
    work = await folder(call, "Work")
    made = await call("add_project", path=alpha, parentId=work["id"])
    told = await refusal(call, "delete_folder", folderId=work["id"])
    assert told == "Cannot delete non-empty folder"
    await call("move_item", itemId=made["id"], newParentId=None)
    assert await call("delete_folder", folderId=work["id"]) is None
    assert await names(call) == ["project"]


async def test_folders_are_nested_three_levels_at_most(call: Call, alpha: str) -> None:
    first = await folder(call, "1")
    second = await folder(call, "2", first["id"])
    third = await folder(call, "3", second["id"])
    too_deep = "Would exceed max nesting depth"
    told = await refusal(call, "create_folder", name="4", parentId=third["id"])
    assert told == too_deep
    other = await folder(call, "a")
    await folder(call, "b", other["id"])
    told = await refusal(call, "move_item", itemId=other["id"], newParentId=second["id"])
    assert told == too_deep
    assert (await call("move_item", itemId=other["id"], newParentId=first["id"]))[
        "parent_id"
    ] == first["id"]
    made = await call("add_project", path=alpha, parentId=third["id"])
    assert made["parent_id"] == third["id"]


async def test_nothing_is_moved_into_itself(call: Call) -> None:
    first = await folder(call, "1")
    second = await folder(call, "2", first["id"])
    circular = "Cannot move item into itself or descendant"
    for target in (first, second):
        told = await refusal(call, "move_item", itemId=first["id"], newParentId=target["id"])
        assert told == circular


async def test_move_item_puts_it_at_its_place(call: Call) -> None:
    made = [await folder(call, name) for name in "abc"]
    moved = await call("move_item", itemId=made[2]["id"], newParentId=None, targetIndex=0)
    assert (moved["name"], moved["order"]) == ("c", 0)
    assert await names(call) == ["c", "a", "b"]
    await call("move_item", itemId=made[2]["id"], newParentId=None, targetIndex=1)
    assert await names(call) == ["a", "c", "b"]
    await call("move_item", itemId=made[0]["id"], newParentId=None, targetIndex=99)
    assert await names(call) == ["c", "b", "a"]
    await call("move_item", itemId=made[2]["id"], newParentId=made[0]["id"])
    assert await names(call) == ["b", "a"]
    assert await names(call, made[0]["id"]) == ["c"]


async def test_move_item_needs_to_be_told_where_to(call: Call) -> None:
    made = await folder(call, "a")
    assert await refusal(call, "move_item", itemId=made["id"]) == "Missing field: newParentId"


async def test_reorder_projects_is_the_order_wanted(call: Call) -> None:
    made = [await folder(call, name) for name in "abcd"]
    wanted = [made[3]["id"], made[1]["id"]]
    assert await call("reorder_projects", projectIds=wanted) is None
    assert await names(call) == ["d", "b", "a", "c"]
    orders = [item["order"] for item in await call("list_projects")]
    assert orders == sorted(orders)


async def test_get_project_branches_marks_the_current_one(
    call: Call, alpha: str, repository: Repository
) -> None:
    repository.git("branch", "next")
    made = await call("add_project", path=alpha)
    found = await call("get_project_branches", projectId=made["id"])
    assert sorted(found, key=lambda branch: branch["name"]) == [
        {"name": "main", "current": True},
        {"name": "next", "current": False},
    ]


async def test_get_git_remotes_and_get_github_remotes_show_no_credentials(
    call: Call, alpha: str, repository: Repository
) -> None:
    repository.git("remote", "add", "origin", "https://ada:secret@github.com/ada/loom.git")
    repository.git("remote", "add", "backup", "/srv/loom.git")
    origin = {"name": "origin", "url": "https://github.com/ada/loom.git"}
    assert await call("get_git_remotes", repoPath=alpha) == [
        origin,
        {"name": "backup", "url": "/srv/loom.git"},
    ]
    assert await call("get_github_remotes", repoPath=alpha) == [
        {**origin, "owner": "ada", "repo": "loom"}
    ]


@pytest.mark.parametrize("command", ["get_git_remotes", "get_github_remotes"])
async def test_remotes_are_asked_of_repositories_only(
    call: Call, command: str, tmp_path: Any
) -> None:
    told = await refusal(call, command, repoPath=str(tmp_path))
    assert told == f"Path is not a git repository: {tmp_path}"
