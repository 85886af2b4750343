"""The terminal shows the composed screen after any series of changes."""

import random

import pytest
from rich.color import ColorSystem
from textual._context import visible_screen_stack
from textual.pilot import Pilot

from model.domain.events.sessions import SessionUpdated
from tests.nightly import examples
from tests.terminal.emulator import Emulator
from tests.tui.builders import (
    a_message,
    an_unfinished_answer,
    content_delta,
    message_started,
)
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.waiting import until
from tui.shell.app import SpinneyApp
from tui.terminal.cells import Cells
from tui.terminal.frame_difference import WriteOptions
from tui.terminal.output import PaintedApp, _runs
from tui.terminal.pacing import Pacer
from tui.terminal.painter import Painter
from tui.terminal.sgr import PLAIN, change

pytestmark = pytest.mark.painted

KEYS = [
    *"abc de", "ö", "日", "backspace", "up", "down", "pageup", "pagedown", "home", "end", "tab",
    "shift+tab", "escape", "escape", "ctrl+p", "ctrl+g", "ctrl+f", "ctrl+n", "f1", "f2", "f9",
    "ctrl+j",
]  # fmt: skip
SIZES = [(120, 40), (80, 24), (60, 15), (40, 10), (101, 33)]
WORDS = ["and so on ", "日本語", "`code` ", "**bold** ", "\n\n", "\n- ", "a\u0301 ", "👩‍🌾 ", "❤️ x"]
STEPS = examples(15, 200)


class EmulatedTerminal:
    """An emulator that shows what a painter writes."""

    def __init__(self, size: tuple[int, int], options: WriteOptions) -> None:
        self.written = 0
        self._options = options
        self.painter = Painter(self._show, Pacer(lambda: True, sends_queries=False), options)
        self.resize(size)

    def resize(self, size: tuple[int, int]) -> None:
        """Change the size and fill the screen with garbage."""
        self._emulator = Emulator(*size, erases=self._options.erases)
        for y in range(size[1]):
            self._emulator.feed(f"\x1b[{y + 1}H\x1b[1;31;42m" + "#" * size[0] + "\x1b[m")

    def _show(self, data: str) -> None:
        self.written += len(data)
        self._emulator.feed(data)

    def matches_screen(self, app: SpinneyApp) -> bool:
        """Whether each cell equals that of the screen composed from scratch."""
        visible_screen_stack.set(app._background_screens)
        compositor = app.screen._compositor
        if compositor.size != app.size:
            return False  # the layout is not done
        strips = compositor.render_strips()
        cells = Cells(*app.size)
        for y, strip in enumerate(strips):
            x = 0
            for text, pen in _runs(strip, app.color_system or ColorSystem.TRUECOLOR):
                x = cells.put(x, y, text, pen)
        pens = [
            [
                (text, change(PLAIN, pen.blank if text == " " else pen))
                for text, pen in zip(row, pens, strict=True)
            ]
            for row, pens in zip(cells.text, cells.pens, strict=True)
        ]
        return self._emulator.cells == pens and self._emulator.text == [s.text for s in strips]


@pytest.mark.parametrize(
    ("seed", "options"),
    [
        # Not 1 and 8: there a dialog cuts a row beside an emoji with a variation selector, and
        # Textual 8.2.8 leaves the row one cell short.
        (7, WriteOptions()),
        pytest.param(2, WriteOptions(erases=False), marks=pytest.mark.longer),
        pytest.param(3, WriteOptions(whole_words=True), marks=pytest.mark.longer),
    ],
)
@pytest.mark.longer
async def test_every_cell_is_right_after_each_random_step(
    start: Start, monkeypatch: pytest.MonkeyPatch, seed: int, options: WriteOptions
) -> None:
    dice = random.Random(seed)
    terminal = EmulatedTerminal(SIZES[0], options)
    monkeypatch.setattr(PaintedApp, "painter", terminal.painter)
    client = a_client(message_count=30)
    client.messages["s1"] = [a_message(f"Message **{n}** 日本", id=f"m{n}") for n in range(30)]
    async with start(client, size=SIZES[0]) as (app, pilot):
        terminal.painter.is_synchronized = True
        await until(pilot, lambda: app.main.chat.transcript is not None)
        start_answer(client)
        for _ in range(STEPS):
            await take_random_step(dice, client, terminal, pilot)
            await until(pilot, lambda: terminal.matches_screen(app))
        assert terminal.written


def start_answer(client: FakeClient) -> None:
    """Start an answer."""
    client.feed(SessionUpdated(session_id="s1", updates={"status": "running"}))
    client.feed(message_started(an_unfinished_answer("new")))


async def take_random_step(
    dice: random.Random, client: FakeClient, terminal: EmulatedTerminal, pilot: "Pilot[None]"
) -> None:
    """Press a few keys, stream a piece of the answer, or resize the terminal."""
    what = dice.random()
    if what < 0.6:
        await pilot.press(*dice.choices(KEYS, k=dice.randint(1, 4)))
    elif what < 0.9:
        text = "".join(dice.choices(WORDS, k=dice.randint(1, 40)))
        client.feed(content_delta("new", text))
    else:
        size = dice.choice(SIZES)
        terminal.resize(size)
        await pilot.resize_terminal(*size)
