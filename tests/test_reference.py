"""The reference pages and `spinney schema` match the code."""

import json
from pathlib import Path
from typing import Any

import pytest

import spinney
from docs import proofs
from docs.effects import EFFECTS, ROOT
from docs.generate import PAGE_MODULE, call_table, page_module, pages
from model.api.command import COMMANDS
from model.cli.arguments import TABLE
from model.cli.reference import schema
from model.domain.events.all import EVENTS
from model.preferences.fields import shown_fields
from model.preferences.prompts import PROMPTS
from model.preferences.schema import PROMPT_KEYS

DOCS = Path(__file__).resolve().parents[1] / "docs"


PAGES = [
    "cli.md", "commands.md", "contract.md", "events.md", "http.md", "preferences.md",
    "spinney.1", "terminal.md",
]  # fmt: skip


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """The text of each page, by its name."""
    return pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_is_up_to_date(made: dict[str, str], name: str) -> None:
    assert (DOCS / name).read_text() == made[name], "run: make docs"


def test_the_table_of_call_is_up_to_date() -> None:
    assert TABLE.read_text() == call_table(), "run: make docs"


def test_the_generated_module_of_the_page_is_up_to_date() -> None:
    assert PAGE_MODULE.read_text() == page_module(), "run: make docs"


def test_every_row_of_the_interface_has_a_test() -> None:
    assert proofs.without_a_test() == []


def test_every_visible_preference_is_read_and_its_effect_is_tested() -> None:
    assert set(EFFECTS) == set(shown_fields())
    assert [lack for key, effect in EFFECTS.items() for lack in effect.lacking(key)] == []


def test_every_prompt_is_used() -> None:
    assert set(PROMPTS) == set(PROMPT_KEYS)
    files = [file for file in (ROOT / "model").rglob("*.py") if file.parent.name != "preferences"]
    read = "".join(file.read_text() for file in files)
    assert [key for key in PROMPT_KEYS if f'"{key}"' not in read] == []


def test_every_command_has_a_description() -> None:
    assert [name for name, command in COMMANDS.items() if not command.description] == []


def test_the_schema_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    assert spinney.main(["schema"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(json.dumps(schema()))
    assert set(printed["commands"]) == set(COMMANDS)
    assert set(printed["events"]) == set(EVENTS)
    assert {"Project", "Worktree", "Session", "Message"} <= set(printed["resources"])


def test_every_reference_in_the_schema_is_defined() -> None:
    whole = schema()

    def references(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
            return own.union(*map(references, value.values()))
        return set().union(*map(references, value)) if isinstance(value, list) else set()

    assert references(whole) == {f"#/$defs/{name}" for name in whole["$defs"]} & references(whole)


def test_the_schema_contains_the_fields_of_plain_frames() -> None:
    events = schema()["events"]
    assert list(events["worktree:creating"]["fields"]) == [
        "id", "project_id", "name", "path", "branch"
    ]  # fmt: skip
    assert {"id", "name", "path", "is_folder"} <= set(events["project:added"]["fields"])
    assert list(events["message-started"]["fields"]) == ["message_id", "session_id"]
