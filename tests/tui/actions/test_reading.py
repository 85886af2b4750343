"""Reading on: finding words, the whole of a long output, panes by letter, the mouse."""

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from model.domain.output import ToolOutput
from model.domain.resources import ToolResultBlock, ToolUseBlock
from tests.tui.conftest import Start, until
from tests.tui.fake_client import FakeClient, a_message, a_project, a_session, a_state, a_worktree
from tui.screens.dialog import AskText
from tui.screens.jump import Jump
from tui.screens.tool_output import Output, OutputView
from tui.shell.app import SpinneyApp
from tui.transcript.widget import Transcript


def a_client(count: int = 250) -> FakeClient:
    """A session of many messages; message 7 speaks of a heron, a folded tool of an otter."""
    client = FakeClient(a_state(a_project(), a_worktree(), a_session(message_count=count)))
    client.messages["s1"] = [
        a_message(f"message {n}" + (" Heron" if n in (7, count - 40) else ""), id=f"m{n}")
        for n in range(count)
    ]
    tool = ToolUseBlock(id="t1", name="bash", input={"command": "make"})
    result = ToolResultBlock(tool_use_id="t1", content="one\n" * 30 + "an otter\n")
    client.messages["s1"][-2] = a_message("", id="tool", role="assistant", content=[tool, result])
    return client


async def opened(app: SpinneyApp, pilot: "Pilot[None]") -> Transcript:
    app.main.open_session("s1")
    await until(pilot, lambda: app.main.chat.transcript and app.main.chat.transcript.viewport)
    transcript = app.main.chat.transcript
    assert transcript is not None
    await until(pilot, lambda: "message 249" in shown(transcript))
    return transcript


def shown(transcript: Transcript) -> str:
    rows = range(transcript.size.height)
    return "\n".join(transcript.render_line(y).text.rstrip() for y in rows)


async def sought(app: SpinneyApp, pilot: "Pilot[None]", text: str) -> None:
    await pilot.press("ctrl+r")
    await until(pilot, lambda: isinstance(app.screen, AskText) and app.screen.query(Input))
    app.screen.query_one(Input).value = text
    await pilot.press("enter")
    await until(pilot, lambda: app.screen is app.main)


async def test_a_find_goes_to_the_newest_message_and_n_and_shift_n_to_the_others(
    start: Start,
) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        transcript = await opened(app, pilot)
        await sought(app, pilot, "heron")
        await until(pilot, lambda: "message 210 Heron" in shown(transcript))
        assert len(client.called("get_messages")) == 1
        # The other one stands in a page that is not loaded yet.
        await pilot.press("N")
        await until(pilot, lambda: "message 7 Heron" in shown(transcript))
        await pilot.press("N")
        await until(
            pilot,
            lambda: any("No older match for" in n.message for n in app._notifications),
        )
        await pilot.press("n")
        await until(pilot, lambda: "message 210 Heron" in shown(transcript))
        await pilot.press("escape")
        await until(pilot, lambda: transcript.finder.query == "")


async def test_what_is_folded_is_found_and_opened(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        transcript = await opened(app, pilot)
        assert "otter" not in shown(transcript)
        await sought(app, pilot, "OTTER")
        await until(pilot, lambda: "an otter" in shown(transcript))
        row = next(y for y in range(transcript.size.height)
                   if "an otter" in transcript.render_line(y).text)  # fmt: skip
        styles = {s.text: s.style for s in transcript.render_line(row)}
        assert styles["otter"] != styles.get("an ")


async def test_what_is_not_there_is_said(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        await opened(app, pilot)
        told = "No older match for '[/] nowhere'."
        await sought(app, pilot, "[/] nowhere")
        await until(
            pilot,
            lambda: [n.message for n in app._notifications] == [told],
        )  # fmt: skip


async def test_the_whole_of_a_long_output_is_read_page_by_page(start: Start) -> None:
    client = a_client()
    text = "".join(f"line {n}\n" for n in range(20_000))

    def read(given: dict[str, Any]) -> ToolOutput:
        offset, end = given["offset"], given["offset"] + given["limit"]
        more = end if end < len(text) else None
        return ToolOutput(content=text[offset:end], offset=offset, next_offset=more, size=len(text))

    client.answers["get_tool_output"] = read
    async with start(client) as (app, pilot):
        transcript = await opened(app, pilot)
        transcript.focus()
        await pilot.press("ctrl+up", "ctrl+up", "ctrl+up", "v")
        await until(pilot, lambda: isinstance(app.screen, Output))
        view = app.screen.query_one(OutputView)
        await until(pilot, lambda: "line 0" in view.render_line(0).text)
        assert len(client.called("get_tool_output")) == 1
        await pilot.press("end")
        await until(pilot, lambda: len(client.called("get_tool_output")) == 2)
        assert client.called("get_tool_output")[1]["offset"] == 64 * 1024
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_an_open_output_takes_up_the_colours_of_the_terminal(start: Start) -> None:
    client = a_client()
    client.answers["get_tool_output"] = lambda given: ToolOutput(
        content="line 0\n", offset=0, next_offset=None, size=7
    )
    async with start(client) as (app, pilot):
        transcript = await opened(app, pilot)
        transcript.focus()
        await pilot.press("ctrl+up", "ctrl+up", "ctrl+up", "v")
        await until(pilot, lambda: isinstance(app.screen, Output))
        view = app.screen.query_one(OutputView)
        await until(pilot, lambda: "line 0" in view.render_line(0).text)
        dark = list(view.render_line(0))
        app.use_theme("light")
        await until(pilot, lambda: list(view.render_line(0)) != dark)
        assert view.render_line(0).text.startswith("line 0")


async def test_an_output_that_is_kept_no_longer_says_so(start: Start) -> None:
    client = a_client()
    client.refuse("get_tool_output", "This result has no saved file.", "not_found")
    async with start(client) as (app, pilot):
        transcript = await opened(app, pilot)
        transcript.focus()
        await pilot.press("ctrl+up", "ctrl+up", "ctrl+up", "v")
        await until(pilot, lambda: isinstance(app.screen, Output))
        await until(
            pilot,
            lambda: "no saved file" in str(app.screen.query_one(".dialog").border_subtitle),
        )


async def test_a_letter_on_each_pane_takes_the_keys_there(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        await opened(app, pilot)
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


async def test_the_mouse_is_given_to_the_terminal_and_taken_back(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with start(a_client()) as (app, pilot):
        written: list[str] = []
        monkeypatch.setattr(app, "write", written.append)
        await pilot.press("f12")
        await until(pilot, lambda: any("\x1b[?1000l" in piece for piece in written))
        written.clear()
        await pilot.press("f12")
        await until(pilot, lambda: any("\x1b[?1000h" in piece for piece in written))
