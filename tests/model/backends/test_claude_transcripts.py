"""Claude Code's transcripts: what is listed and read of files that other programs write."""

import json
import os
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from model.backends.claude.second_writer import SecondWriter
from model.backends.claude.transcripts import find_folder, list_transcripts, read_transcript
from model.backends.stored_conversations import MAX_CONVERSATIONS, MAX_MESSAGES

Json = dict[str, Any]

DIRECTORY = Path("/home/ada/loom.app")


def line(kind: str, text: str, parent: str | None = None, **fields: Any) -> Json:
    """A line of a transcript, with an id made from its text."""
    return {
        "type": kind,
        "uuid": text,
        "parentUuid": parent,
        "message": {"role": kind, "content": [{"type": "text", "text": text}]},
        "cwd": str(DIRECTORY),
        "timestamp": "2026-11-27T21:19:03.611Z",
        **fields,
    }


def write(config: Path, lines: Iterable[Json | str], token: str = "") -> str:
    """Write a transcript; returns its id."""
    token = token or str(uuid.uuid4())
    folder = find_folder(config, DIRECTORY)
    folder.mkdir(parents=True, exist_ok=True)
    written = (each if isinstance(each, str) else json.dumps(each) for each in lines)
    (folder / f"{token}.jsonl").write_text("\n".join(written) + "\n")
    return token


def read(config: Path, token: str) -> list[str]:
    found = read_transcript(config, DIRECTORY, token)
    assert found is not None
    return [message.text for message in found.messages]


def test_a_conversation_is_described_by_its_beginning_and_its_end(tmp_path: Path) -> None:
    first = line("user", "warp", gitBranch="main", entrypoint="cli")
    end = {"type": "last-prompt", "lastPrompt": "weft"}
    token = write(tmp_path, ["{broken", first, "x" * 1_000_000, line("assistant", "done"), end])
    (found,) = list_transcripts(tmp_path, DIRECTORY)
    assert (found.token, found.title, found.branch, found.origin) == (
        token, "weft", "main", "terminal",
    )  # fmt: skip
    write(tmp_path, [first, {"type": "custom-title", "customTitle": "Looms"}, end], token)
    assert [each.title for each in list_transcripts(tmp_path, DIRECTORY)] == ["Looms"]


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["\x00\xff{[", "[]", "12", '"text"'],
        ["[" * 100_000],
        [{"type": "user"}],
        [line("user", "elsewhere", cwd="/home/ada/loom-app")],
        [{"type": "user", "message": 3, "cwd": [], "timestamp": {}}],
    ],
    ids=["empty", "no JSON", "deep", "bare", "another directory", "nonsense"],
)
def test_other_files_are_not_listed(tmp_path: Path, lines: list[Json | str]) -> None:
    token = write(tmp_path, lines)
    assert list_transcripts(tmp_path, DIRECTORY) == []
    assert read_transcript(tmp_path, DIRECTORY, token) is not None


def test_the_texts_are_those_of_the_newest_branch(tmp_path: Path) -> None:
    token = write(
        tmp_path,
        [
            line("user", "warp"),
            line("assistant", "one", "warp"),
            line("user", "taken back", "one"),
            line("assistant", "gone", "taken back"),
            line("user", "weft", "one"),
            line("user", "aside", "weft", isSidechain=True),
            line("user", "<system-reminder>", "weft"),
            line("assistant", "two", "<system-reminder>"),
        ],
    )
    found = read_transcript(tmp_path, DIRECTORY, token)
    assert found is not None and found.is_complete and found.mark == "two"
    assert [each.text for each in found.messages] == ["warp", "one", "weft", "two"]
    assert found.messages[0].timestamp == pytest.approx(1795814343.611)


def test_lines_that_name_each_other_in_a_ring_are_read_once(tmp_path: Path) -> None:
    token = write(tmp_path, [line("user", "a", "b"), line("assistant", "b", "a")])
    assert read(tmp_path, token) == ["a", "b"]


def test_only_the_newest_messages_of_a_long_conversation_are_read(tmp_path: Path) -> None:
    count = MAX_MESSAGES + 50
    texts = [f"message {number}" for number in range(count)]
    lines = [
        line("user", text, texts[at - 1] if at else None, padding="x" * 60_000)
        for at, text in enumerate(texts)
    ]
    token = write(tmp_path, lines)
    found = read_transcript(tmp_path, DIRECTORY, token)
    assert found is not None and not found.is_complete
    assert len(found.messages) <= MAX_MESSAGES
    assert found.messages[-1].text == texts[-1]


def test_control_characters_are_visible_and_long_texts_shortened(tmp_path: Path) -> None:
    token = write(tmp_path, [line("user", "\x1b[31mred"), line("assistant", "y" * 90_000)])
    assert "\x1b" not in read(tmp_path, token)[0]
    write(tmp_path, [line("assistant", "y" * 90_000)], token)
    assert read(tmp_path, token)[0].endswith("more characters]")


def test_the_newest_of_many_conversations_are_listed(tmp_path: Path) -> None:
    for number in range(MAX_CONVERSATIONS + 5):
        token = write(tmp_path, [line("user", f"warp {number}")])
        path = find_folder(tmp_path, DIRECTORY) / f"{token}.jsonl"
        os.utime(path, (number, number))
    found = list_transcripts(tmp_path, DIRECTORY)
    assert len(found) == MAX_CONVERSATIONS
    assert found[0].title == f"warp {MAX_CONVERSATIONS + 4}"


def test_a_token_is_never_a_path(tmp_path: Path) -> None:
    write(tmp_path, [line("user", "warp")])
    for token in ("../secret", "", "*", "a" * 36, str(uuid.uuid4())):
        assert read_transcript(tmp_path, DIRECTORY, token) is None


def test_lines_of_the_programs_own_screen_are_noticed_once(tmp_path: Path) -> None:
    watched = SecondWriter(tmp_path, DIRECTORY)
    token = str(uuid.uuid4())
    assert not watched.has_written(token)  # there is no file yet
    typed = json.dumps(line("user", "warp", entrypoint="cli"), separators=(",", ":"))
    write(tmp_path, [typed], token)
    assert not watched.has_written(token)  # it may be a copy
    path = find_folder(tmp_path, DIRECTORY) / f"{token}.jsonl"

    def append(*lines: str) -> None:
        with path.open("a") as file:
            file.writelines(f"{each}\n" for each in lines)

    append(typed.replace('"cli"', '"sdk-cli"'))
    assert not watched.has_written(token)
    append("x" * 3_000_000, typed)
    assert watched.has_written(token)
    assert not watched.has_written(token)
    path.write_text("")
    assert not watched.has_written(token)
