"""Arguments of commands: both spellings, and the errors of invalid ones."""

from typing import Any

import pytest

from tests.contract.conftest import Call, expect_error


async def test_the_body_of_an_issue_may_be_null(call: Call, project: Any) -> None:
    issue = {"number": 7, "title": "Fix the loom", "body": None}
    made = await call("create_worktree", projectId=project["id"], issueContext=issue)
    assert (made["issue_number"], made["name"]) == (7, "7-fix-the-loom")


async def test_a_pull_request_may_use_snake_case_keys(call: Call, project: Any) -> None:
    request = {"number": 7, "title": "Mend", "head_ref_name": "mend", "base_ref_name": "main"}
    made = await call("create_worktree", projectId=project["id"], prContext=request)
    assert (made["pr_number"], made["name"], made["base_branch"]) == (7, "mend", "main")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"customName": ""}, "'customName': must have from 1 to 100 characters"),
    ({"customName": "x" * 101}, "'customName': must have from 1 to 100 characters"),
    ({"custom_name": 1}, "'custom_name': must be text"),
    ({"issueContext": {"number": 0, "title": "a"}}, "'issueContext': number: must be greater"),
    ({"issueContext": {"number": 1}}, "'issueContext': title is missing"),
    ({"issueContext": "a"}, "'issueContext': must be an object"),
    ({"baseBranch": ["a"]}, "'baseBranch': must be text"),
]
"""Arguments of `create_worktree`, and how their errors go on."""


async def test_create_worktree_refuses_invalid_arguments_with_the_reason(
    call: Call, project: Any
) -> None:
    for args, expected in REFUSED:
        error = await expect_error(call, "create_worktree", projectId=project["id"], **args)
        assert error.startswith(f"Invalid field {expected}")


async def test_an_invalid_branch_name_is_refused_with_the_reason(call: Call, project: Any) -> None:
    error = await expect_error(call, "create_worktree", projectId=project["id"], customName="a b")
    assert error.startswith(
        "Invalid field 'customName': 'a b' is not a valid branch name: it contains"
    )


async def test_an_unknown_base_branch_is_refused_at_once(call: Call, project: Any) -> None:
    given = {"projectId": project["id"], "baseBranch": "nope"}
    error = await expect_error(call, "create_worktree", **given)
    assert error == "Invalid field 'baseBranch': there is no branch or commit 'nope'"
    assert await call("list_worktrees", projectId=project["id"]) == []


LABELS: list[tuple[Any, str]] = [
    ({"name": "", "color": "#0a0"}, "name must have from 1 to 50 characters"),
    ({"name": " \n", "color": "#0a0"}, "name must have from 1 to 50 characters"),
    ({"name": "x" * 51, "color": "#0a0"}, "name must have from 1 to 50 characters"),
    ({"name": "a", "color": "red"}, "color must be a hex color code: #rgb or #rrggbb"),
    ({"name": "a", "color": "#12345"}, "color must be a hex color code: #rgb or #rrggbb"),
    ({"name": "a", "color": "#0a0\n"}, "color must be a hex color code: #rgb or #rrggbb"),
    ({"name": "a"}, "color is missing"),
    ({"name": 1, "color": "#0a0"}, "name: must be text"),
    ("urgent", "must be an object"),
]
"""Labels that are refused, and why."""


async def test_a_label_needs_a_name_and_a_hex_color(call: Call, worktree: Any) -> None:
    given = {"worktreeId": worktree["id"]}
    for label, expected in LABELS:
        error = await expect_error(call, "update_worktree_label", **given, label=label)
        assert error == f"Invalid field 'label': {expected}", label
        assert (await call("get_worktree", **given))["label"] is None, label
    short = {"name": "urgent", "color": "#0aF"}
    assert await call("update_worktree_label", **given, label=short) is None
    assert (await call("get_worktree", **given))["label"] == short


@pytest.mark.parametrize(
    ("command", "args"), [("create_session", {}), ("rename_worktree", {"newName": "other"})]
)
async def test_commands_in_an_archived_worktree_are_refused(
    call: Call, worktree: Any, command: str, args: dict[str, Any]
) -> None:
    given = {"worktreeId": worktree["id"]}
    await call("archive_worktree", **given)
    error = await expect_error(call, command, **given, **args)
    assert error == f"'{worktree['name']}' is archived. Unarchive it first."
    await call("unarchive_worktree", **given)
    assert await call(command, **given, **args)
