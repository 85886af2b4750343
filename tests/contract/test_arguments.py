"""Arguments as clients write them: what is taken in both spellings, and what is refused how."""

from typing import Any

import pytest

from tests.contract.conftest import Call, refusal

"""Each test has a repository of its own."""


async def test_an_issue_without_a_body_has_null_for_one(call: Call, project: Any) -> None:
    issue = {"number": 7, "title": "Fix the loom", "body": None}
    made = await call("create_worktree", projectId=project["id"], issueContext=issue)
    assert (made["issue_number"], made["name"]) == (7, "7-fix-the-loom")


async def test_a_pull_request_is_taken_in_snake_case_too(call: Call, project: Any) -> None:
    request = {"number": 7, "title": "Mend", "head_ref_name": "mend", "base_ref_name": "main"}
    made = await call("create_worktree", projectId=project["id"], prContext=request)
    assert (made["pr_number"], made["name"], made["base_branch"]) == (7, "mend", "main")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"customName": ""}, "'customName': must have from 1 to 100 characters"),
        ({"customName": "x" * 101}, "'customName': must have from 1 to 100 characters"),
        ({"custom_name": 1}, "'custom_name': must be text"),
        ({"issueContext": {"number": 0, "title": "a"}}, "'issueContext': number: must be greater"),
        ({"issueContext": {"number": 1}}, "'issueContext': title is missing"),
        ({"issueContext": "a"}, "'issueContext': must be an object"),
        ({"baseBranch": ["a"]}, "'baseBranch': must be text"),
    ],
)
async def test_create_worktree_says_what_an_argument_must_be(
    call: Call, project: Any, args: dict[str, Any], told: str
) -> None:
    said = await refusal(call, "create_worktree", projectId=project["id"], **args)
    assert said.startswith(f"Invalid field {told}")


async def test_a_name_that_git_takes_for_no_branch_is_refused_with_the_reason(
    call: Call, project: Any
) -> None:
    said = await refusal(call, "create_worktree", projectId=project["id"], customName="a b")
    assert said.startswith(
        "Invalid field 'customName': 'a b' is not a valid branch name: it contains"
    )


async def test_a_base_branch_that_nothing_is_called_is_refused_at_once(
    call: Call, project: Any
) -> None:
    given = {"projectId": project["id"], "baseBranch": "nope"}
    said = await refusal(call, "create_worktree", **given)
    assert said == "Invalid field 'baseBranch': there is no branch or commit 'nope'"
    assert await call("list_worktrees", projectId=project["id"]) == []


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ({"name": "", "color": "#0a0"}, "name must have from 1 to 50 characters"),
        ({"name": " \n", "color": "#0a0"}, "name must have from 1 to 50 characters"),
        ({"name": "x" * 51, "color": "#0a0"}, "name must have from 1 to 50 characters"),
        ({"name": "a", "color": "red"}, "color must be a hex color code: #rgb or #rrggbb"),
        ({"name": "a", "color": "#12345"}, "color must be a hex color code: #rgb or #rrggbb"),
        ({"name": "a", "color": "#0a0\n"}, "color must be a hex color code: #rgb or #rrggbb"),
        ({"name": "a"}, "color is missing"),
        ({"name": 1, "color": "#0a0"}, "name: must be text"),
        ("urgent", "must be an object"),
    ],
)
async def test_a_label_is_a_name_and_a_hex_colour(
    call: Call, worktree: Any, label: Any, told: str
) -> None:
    given = {"worktreeId": worktree["id"]}
    said = await refusal(call, "update_worktree_label", **given, label=label)
    assert said == f"Invalid field 'label': {told}"
    short = {"name": "urgent", "color": "#0aF"}
    assert await call("update_worktree_label", **given, label=short) is None
    assert (await call("get_worktree", **given))["label"] == short


@pytest.mark.parametrize(
    ("command", "args"), [("create_session", {}), ("rename_worktree", {"newName": "other"})]
)
async def test_nothing_begins_in_an_archived_worktree(
    call: Call, worktree: Any, command: str, args: dict[str, Any]
) -> None:
    given = {"worktreeId": worktree["id"]}
    await call("archive_worktree", **given)
    said = await refusal(call, command, **given, **args)
    assert said == f"'{worktree['name']}' is archived. Unarchive it first."
    await call("unarchive_worktree", **given)
    assert await call(command, **given, **args)
