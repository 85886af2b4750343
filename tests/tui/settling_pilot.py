"""A pilot that waits for what its keys and clicks have caused, and for nothing else."""

import asyncio
from itertools import pairwise
from typing import Final

from textual.pilot import Pilot
from textual.screen import Screen

from tests.tui.virtual_loop import VirtualLoop

_MOST_ROUNDS: Final = 100
"""Refreshes after one key. More are a layout that changes to and fro, which costs a whole processor
for as long as it is on the screen.
"""
_FEWEST_COLUMNS: Final = 10
"""With fewer, a dialog may get a scroll bar and lose it again, endlessly."""
_UNTIL_RESIZED: Final = 0.1
"""Seconds after which Textual has taken up a new size of the terminal."""
_BETWEEN_KEYS: Final = 0.01
"""Seconds of the loop's clock, which stands still while the loop works."""


class SettlingPilot(Pilot[None]):
    """Textual's pilot, with other waits.

    Textual's waits until the process uses little CPU time for a while, which a starved process does
    as well, and asks every widget to report. This one waits until the loop has nothing to do, all
    layouts and animations are done, and nothing is left to be drawn.
    """

    async def press(self, *keys: str) -> None:
        """Press keys. Between two letters there is no new layout: who types looks at the end."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        for key, following in pairwise((*keys, "")):
            await asyncio.sleep(_BETWEEN_KEYS)
            await self.app._press_keys([key])
            if len(key) == len(following) == 1:
                await loop.drain()
            else:
                await self._settle()

    async def pause(self, delay: float | None = None) -> None:
        if delay is not None:
            await asyncio.sleep(delay)
        await self._settle()

    async def _wait_for_screen(self, timeout: float = 30.0) -> bool:
        await self._settle()
        return True

    async def _settle(self) -> None:
        if await self._comes_to_rest():
            return
        await asyncio.sleep(_UNTIL_RESIZED)
        if not await self._comes_to_rest() and self.app.size.width >= _FEWEST_COLUMNS:
            raise AssertionError(f"the layout of {self.app.screen} does not come to rest")

    async def _comes_to_rest(self) -> bool:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        for _ in range(_MOST_ROUNDS):
            await loop.drain()
            if not self.app.animator._complete_event.is_set():
                await self.app.animator.wait_until_complete()
            elif stale := [screen for screen in self.app._screen_stack if _is_stale(screen)]:
                for screen in stale:
                    screen._on_timer_update()
            else:
                return True
        return False


def _is_stale(screen: "Screen[object]") -> bool:
    """Whether a screen has a layout, a drawing or callbacks after them to do."""
    if screen._callbacks:
        return True
    if not screen.is_current or screen.app._batch_count:
        return False
    if screen._layout_required or screen._scroll_required:
        return True
    # One behind a dialog is drawn with the dialog.
    return screen is screen.app.screen and bool(
        screen._repaint_required or screen._dirty_widgets or screen._recompose_required
    )


async def wait_for_nothing(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Replaces Textual's wait for a process that uses no CPU time."""
