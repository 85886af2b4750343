"""Reading: find in messages, the full output of a tool, panes by letter, the mouse."""

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from model.domain.messages import ToolResultBlock, ToolUseBlock
from model.domain.output import ToolOutput
from tests.tui.builders import a_message
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications, visible_text
from tests.tui.waiting import until
from tui.screens.dialog import AskText
from tui.screens.jump import Jump
from tui.screens.tool_output import Output, OutputView
from tui.shell.app import SpinneyApp
from tui.transcript.widget import Transcript


def client_with_matches(count: int = 250) -> FakeClient:
    """A session of many messages; two contain “Heron”, and a folded tool result “otter”."""
    client = a_client(message_count=count)
    client.messages["s1"] = [
        a_message(f"message {n}" + (" Heron" if n in (7, count - 40) else ""), id=f"m{n}")
        for n in range(count)
    ]
    tool = ToolUseBlock(id="t1", name="bash", input={"command": "make"})
    result = ToolResultBlock(tool_use_id="t1", content="one\n" * 30 + "an otter\n")
    client.messages["s1"][-2] = a_message("", id="tool", role="assistant", content=[tool, result])
    return client


async def open_transcript(app: SpinneyApp, pilot: "Pilot[None]") -> Transcript:
    app.main.open_session("s1")
    await until(pilot, lambda: app.main.chat.transcript and app.main.chat.transcript.viewport)
    transcript = app.main.chat.transcript
    assert transcript is not None
    await until(pilot, lambda: "message 249" in visible_text(transcript))
    return transcript


async def find(app: SpinneyApp, pilot: "Pilot[None]", text: str) -> None:
    await pilot.press("shift+f3")
    await until(pilot, lambda: isinstance(app.screen, AskText) and app.screen.query(Input))
    app.screen.query_one(Input).value = text
    await pilot.press("enter")
    await until(pilot, lambda: app.screen is app.main)


async def test_a_find_goes_to_the_newest_match_and_n_and_shift_n_to_the_others(
    start: Start,
) -> None:
    client = client_with_matches()
    async with start(client) as (app, pilot):
        transcript = await open_transcript(app, pilot)
        await find(app, pilot, "heron")
        await until(pilot, lambda: "message 210 Heron" in visible_text(transcript))
        assert len(client.called("get_messages")) == 1
        # The other match is in a page that is not loaded yet.
        await pilot.press("N")
        await until(pilot, lambda: "message 7 Heron" in visible_text(transcript))
        await pilot.press("N")
        await until(
            pilot,
            lambda: any("No older match for" in note for note in notifications(app)),
        )
        await pilot.press("n")
        await until(pilot, lambda: "message 210 Heron" in visible_text(transcript))
        await pilot.press("escape")
        await until(pilot, lambda: transcript.finder.query == "")


async def test_a_match_in_a_folded_block_is_unfolded(start: Start) -> None:
    async with start(client_with_matches()) as (app, pilot):
        transcript = await open_transcript(app, pilot)
        assert "otter" not in visible_text(transcript)
        await find(app, pilot, "OTTER")
        await until(pilot, lambda: "an otter" in visible_text(transcript))
        row = next(y for y in range(transcript.size.height)
                   if "an otter" in transcript.render_line(y).text)  # fmt: skip
        styles = {s.text: s.style for s in transcript.render_line(row)}
        assert styles["otter"] != styles.get("an ")


async def test_a_missing_match_is_reported(start: Start) -> None:
    async with start(client_with_matches()) as (app, pilot):
        await open_transcript(app, pilot)
        message = "No older match for '[/] nowhere'."
        await find(app, pilot, "[/] nowhere")
        await until(
            pilot,
            lambda: notifications(app) == [message],
        )  # fmt: skip


async def test_a_long_output_is_loaded_page_by_page(start: Start) -> None:
    client = client_with_matches()
    text = "".join(f"line {n}\n" for n in range(20_000))

    def read(given: dict[str, Any]) -> ToolOutput:
        offset, end = given["offset"], given["offset"] + given["limit"]
        more = end if end < len(text) else None
        return ToolOutput(content=text[offset:end], offset=offset, next_offset=more, size=len(text))

    client.answers["get_tool_output"] = read
    async with start(client) as (app, pilot):
        transcript = await open_transcript(app, pilot)
        transcript.focus()
        await pilot.press("ctrl+up", "ctrl+up", "v")
        await until(pilot, lambda: isinstance(app.screen, Output))
        view = app.screen.query_one(OutputView)
        await until(pilot, lambda: "line 0" in view.render_line(0).text)
        assert len(client.called("get_tool_output")) == 1
        await pilot.press("end")
        await until(pilot, lambda: len(client.called("get_tool_output")) == 2)
        assert client.called("get_tool_output")[1]["offset"] == 64 * 1024
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_an_open_output_follows_the_theme(start: Start) -> None:
    client = client_with_matches()
    client.answers["get_tool_output"] = lambda given: ToolOutput(
        content="line 0\n", offset=0, next_offset=None, size=7
    )
    async with start(client) as (app, pilot):
        transcript = await open_transcript(app, pilot)
        transcript.focus()
        await pilot.press("ctrl+up", "ctrl+up", "v")
        await until(pilot, lambda: isinstance(app.screen, Output))
        view = app.screen.query_one(OutputView)
        await until(pilot, lambda: "line 0" in view.render_line(0).text)
        dark = list(view.render_line(0))
        app.use_theme("light")
        await until(pilot, lambda: list(view.render_line(0)) != dark)
        assert view.render_line(0).text.startswith("line 0")


async def test_an_output_that_is_no_longer_stored_says_so(start: Start) -> None:
    client = client_with_matches()
    client.refuse("get_tool_output", "This result has no saved file.", "not_found")
    async with start(client) as (app, pilot):
        transcript = await open_transcript(app, pilot)
        transcript.focus()
        await pilot.press("ctrl+up", "ctrl+up", "v")
        await until(pilot, lambda: isinstance(app.screen, Output))
        await until(
            pilot,
            lambda: "no saved file" in str(app.screen.query_one(".dialog").border_subtitle),
        )


async def test_the_letter_of_a_pane_moves_the_focus_there(start: Start) -> None:
    async with start(client_with_matches()) as (app, pilot):
        await open_transcript(app, pilot)
        for key, pane in (("p", app.main.projects), ("c", app.main.chat.transcript)):
            await pilot.press("f10")
            await until(pilot, lambda: isinstance(app.screen, Jump))
            assert len(app.screen.query(".jump")) == 3
            await pilot.press(key)
            await until(pilot, lambda: app.main.focused is pane)  # noqa: B023
        await pilot.press("f10")
        await until(pilot, lambda: isinstance(app.screen, Jump))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert app.main.focused is app.main.chat.transcript


async def test_mouse_reporting_is_toggled(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    async with start(client_with_matches()) as (app, pilot):
        written: list[str] = []
        monkeypatch.setattr(app, "write", written.append)
        await pilot.press("f12")
        await until(pilot, lambda: any("\x1b[?1000l" in piece for piece in written))
        written.clear()
        await pilot.press("f12")
        await until(pilot, lambda: any("\x1b[?1000h" in piece for piece in written))
