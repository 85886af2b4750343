"""Long tool results: shortened for display, saved in full, limited in size, and removed."""

import asyncio
from pathlib import Path

import pytest

from model.backends import agent_events
from model.base.errors import SpinneyError
from model.chat import tool_outputs as module
from model.chat.tool_outputs import (
    MAX_SHOWN,
    ToolOutputs,
    remove_files_of_deleted_sessions,
    shorten,
)
from model.domain.events.sessions import SessionDeleted
from model.domain.messages import ToolResultBlock
from model.domain.output import ToolOutput
from tests.model.chat.harness import DONE, Harness

LONG = "".join(f"line {number} ö\n" for number in range(10_000))


async def read_whole(outputs: ToolOutputs, session_id: str, key: str, limit: int = 10_000) -> str:
    pieces, offset = [], 0
    while True:
        piece = await outputs.read(session_id, key, offset, limit)
        pieces.append(piece.content)
        if piece.next_offset is None:
            return "".join(pieces)
        offset = piece.next_offset


async def run_tool(harness: Harness, content: str) -> ToolResultBlock:
    puppet = await harness.start_turn("go")
    puppet.say(agent_events.ToolUse("t", "bash", {}), agent_events.ToolResult("t", content), DONE)
    block = (await harness.wait_for_turn()).content[1]
    assert isinstance(block, ToolResultBlock)
    return block


async def test_a_long_result_shows_its_ends_and_is_saved_in_full(harness: Harness) -> None:
    block = await run_tool(harness, LONG)
    assert len(block.content) < MAX_SHOWN + 100
    assert block.content.startswith("line 0 ö\nline 1 ö\n")
    assert block.content.endswith("line 9999 ö\n")
    assert "bytes are left out here …]\n" in block.content
    assert await read_whole(harness.outputs, "s", "t") == LONG


async def test_a_short_result_is_shown_in_full_and_not_saved(harness: Harness) -> None:
    assert (await run_tool(harness, "x" * MAX_SHOWN)).content == "x" * MAX_SHOWN
    with pytest.raises(SpinneyError, match="it is shown in full"):
        await harness.outputs.read("s", "t", 0, 100)


async def test_saved_results_are_private(tmp_path: Path) -> None:
    outputs = ToolOutputs(tmp_path / "outputs")
    outputs.shorten_and_save("s", "../../../etc/passwd", LONG)
    await outputs.close()
    folder, saved = tmp_path / "outputs" / "s", next((tmp_path / "outputs" / "s").iterdir())
    assert [path.stat().st_mode & 0o777 for path in (folder.parent, folder, saved)] == [
        0o700, 0o700, 0o600,
    ]  # fmt: skip
    assert "etc" not in saved.name


async def test_pieces_end_at_whole_characters(tmp_path: Path) -> None:
    outputs = ToolOutputs(tmp_path / "outputs")
    text = "€" * MAX_SHOWN + "."
    outputs.shorten_and_save("s", "t", text)
    first = await outputs.read("s", "t", 0, 7)
    assert first == ToolOutput(content="€€", offset=0, next_offset=6, size=3 * MAX_SHOWN + 1)
    assert await read_whole(outputs, "s", "t", limit=1000) == text
    beyond = await outputs.read("s", "t", 10**9, 100)
    assert (beyond.content, beyond.next_offset) == ("", None)


async def test_a_later_result_of_the_same_call_replaces_the_earlier(tmp_path: Path) -> None:
    outputs = ToolOutputs(tmp_path / "outputs")
    outputs.shorten_and_save("s", "t", "a" * 2 * MAX_SHOWN)
    outputs.shorten_and_save("s", "t", "b" * 2 * MAX_SHOWN)
    assert await read_whole(outputs, "s", "t") == "b" * 2 * MAX_SHOWN


async def test_the_size_of_one_saved_result_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_FILE_SIZE", 1000)
    outputs = ToolOutputs(tmp_path / "outputs")
    outputs.shorten_and_save("s", "t", LONG)
    assert len((await read_whole(outputs, "s", "t")).encode()) <= 1000


async def test_the_oldest_results_are_removed_beyond_the_total_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_TOTAL_SIZE", 3 * len(LONG.encode()))
    outputs = ToolOutputs(tmp_path / "outputs")
    for number in range(4):
        outputs.shorten_and_save("s", f"t{number}", LONG)
        await outputs.close()
    saved = [number for number in range(4) if await is_saved(outputs, "s", f"t{number}")]
    assert saved == [2, 3]


async def is_saved(outputs: ToolOutputs, session_id: str, key: str) -> bool:
    try:
        await outputs.read(session_id, key, 0, 4)
    except SpinneyError:
        return False
    return True


async def test_a_failed_save_loses_only_the_middle(
    harness: Harness, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "outputs").write_text("no directory")
    assert (await run_tool(harness, LONG)).content == shorten(LONG)
    await harness.outputs.close()
    assert "could not save a long tool result" in caplog.text


async def test_results_are_removed_with_their_session(harness: Harness) -> None:
    await run_tool(harness, LONG)
    following = asyncio.create_task(
        remove_files_of_deleted_sessions(harness.store, harness.outputs)
    )
    await harness.outputs.remove_all_but({"s"})
    assert await is_saved(harness.outputs, "s", "t")
    await harness.conversations.end_agent("s")
    await harness.store.accept(SessionDeleted(session_id="s"))
    await harness.outputs.remove_all_but(harness.store.state.sessions)
    assert not await is_saved(harness.outputs, "s", "t")
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)


async def test_results_of_missing_sessions_are_removed_at_the_next_start(
    harness: Harness, tmp_path: Path
) -> None:
    harness.outputs.shorten_and_save("gone", "t", LONG)
    harness.outputs.shorten_and_save("s", "t", LONG)
    await harness.outputs.close()
    later = ToolOutputs(tmp_path / "outputs")
    await later.remove_all_but(harness.store.state.sessions)
    assert not (tmp_path / "outputs" / "gone").exists()
    assert await is_saved(later, "s", "t")


@pytest.mark.parametrize("text", ["x" * 100_000, "\n" * 100_000, LONG, "ab\n" * 50_000])
def test_the_omitted_size_and_the_shown_parts_add_up(text: str) -> None:
    head, _, rest = shorten(text).partition("[… ")
    words, _, tail = rest.partition("…]\n")
    number = int(words.split("lines, ")[1].split(" bytes")[0].replace(",", ""))
    assert text.startswith(head.rstrip("\n"))
    assert text.endswith(tail)
    assert len(text.encode()) - number in (
        len(head.encode()) + len(tail.encode()),
        len(head.encode()) + len(tail.encode()) - 1,
    )


@pytest.mark.parametrize("separator", ["\n", ",", " "])
@pytest.mark.parametrize("shift", range(0, 60, 7))
def test_no_word_is_cut_in_two(separator: str, shift: int) -> None:
    """The mask of guests recognizes a token as a whole only."""
    token = '"token":"0123456789abcdef0123456789abcdef"'
    text = " " * shift + separator.join([token] * 3_000)
    shown = shorten(text)
    assert "[… " in shown
    assert shown.count(":") == shown.count(token)
