"""Parsing of commands: argument names in both cases, and the exact error messages."""

import json
from typing import Any, Literal

import pytest

from model.api.command import (
    COMMANDS,
    UNCHANGED,
    Command,
    Unchanged,
    camel_case,
    find_command,
    snake_case,
)
from model.base.errors import SpinneyError


async def _rename(
    worktree_id: str,
    new_name: str,
    label: dict[str, str] | None,
    count: int = 1,
    kind: Literal["a", "b"] = "a",
    either: str | dict[str, str] | None = None,
    own: list[str] | Unchanged | None = UNCHANGED,
) -> str:
    suffix = "" if own is UNCHANGED else f":{own}"
    return f"{worktree_id}:{new_name}:{label}:{count}:{kind}{suffix}"


RENAME: Command[..., str] = Command(_rename)
GOOD = {"worktreeId": "w", "newName": "n", "label": None}


async def run(args: dict[str, Any]) -> str:
    return await RENAME.signature(**RENAME.parse(args))


async def test_arguments_are_accepted_in_camel_case_and_in_snake_case() -> None:
    assert await run(GOOD) == "w:n:None:1:a"
    assert await run({"worktree_id": "w", "new_name": "n", "label": None}) == "w:n:None:1:a"


async def test_null_counts_as_absent_where_an_argument_is_optional() -> None:
    assert await run({**GOOD, "count": None, "kind": "b"}) == "w:n:None:1:b"


async def test_null_is_a_value_where_an_absent_argument_means_unchanged() -> None:
    assert await run({**GOOD, "own": None}) == "w:n:None:1:a:None"
    assert await run({**GOOD, "own": ["x"]}) == "w:n:None:1:a:['x']"
    with pytest.raises(SpinneyError, match=r"^Invalid field 'own': must be a list$"):
        await run({**GOOD, "own": "x"})


async def test_a_bad_argument_is_named_as_the_client_wrote_it() -> None:
    with pytest.raises(SpinneyError, match="Invalid field 'new_name': "):
        await run({"worktreeId": "w", "new_name": 1, "label": None})


async def test_unknown_arguments_are_ignored() -> None:
    assert await run({**GOOD, "fromTheFuture": True}) == "w:n:None:1:a"


async def test_a_missing_argument_is_named_as_on_the_wire() -> None:
    with pytest.raises(SpinneyError, match=r"^Missing field: newName$"):
        await run({"worktreeId": "w", "label": None})


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        ({"worktreeId": 7}, "Invalid field 'worktreeId': must be text"),
        ({"worktreeId": None}, "Invalid field 'worktreeId': must be text"),
        ({"count": "many"}, "Invalid field 'count': must be a whole number"),
        ({"kind": "c"}, "Invalid field 'kind': must be 'a' or 'b'"),
        ({"label": []}, "Invalid field 'label': must be an object"),
        ({"label": {"name": 3}}, "Invalid field 'label': name: must be text"),
        ({"either": 1}, "Invalid field 'either': must be text or an object"),
        ({"either": {"a": 1}}, "Invalid field 'either': a: must be text"),
    ],
)
async def test_a_bad_argument_is_named_with_the_reason(bad: dict[str, Any], text: str) -> None:
    with pytest.raises(SpinneyError) as refused:
        await run({**GOOD, **bad})
    assert refused.value.message == text
    assert refused.value.error_type == "invalid_request"


async def test_deep_nesting_is_refused_not_fatal() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(SpinneyError, match="Invalid field 'label'"):
        await run({**GOOD, "label": deep})


async def test_control_bytes_and_lone_surrogates_never_reach_a_command() -> None:
    args = json.loads('{"worktreeId": "\\u001b[31mw", "newName": "\\ud800", "label": null}')
    assert await run(args) == "␛[31mw:<U+D800>:None:1:a"


def test_an_unknown_command_is_named() -> None:
    with pytest.raises(SpinneyError, match=r"^Unknown command: fly$"):
        find_command("fly")


def test_other_names_of_commands_are_accepted() -> None:
    import model.api.all  # noqa: F401

    assert find_command("cancel_chat_message") is find_command("stop_generation")
    assert find_command("get_sessions") is find_command("list_sessions")


def test_every_command_has_a_description_and_a_result_schema() -> None:
    import model.api.all  # noqa: F401

    assert len(COMMANDS) > 25
    for command in COMMANDS.values():
        assert command.description.endswith((".", "`."))
        assert all(snake_case(argument.wire) == argument.name for argument in command.arguments)
        assert command.result.json_schema() is not None


@pytest.mark.parametrize("name", ["worktree_id", "name", "new_parent_id"])
def test_wire_names_convert_back_to_python_names(name: str) -> None:
    assert snake_case(camel_case(name)) == name
