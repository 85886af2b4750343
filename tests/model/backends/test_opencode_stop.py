"""The end of a turn of OpenCode: asked for until it has begun and is over."""

from model.backends.opencode_stop import Stopper
from model.backends.opencode_stream import OpenCodeStream


async def test_an_abort_that_comes_before_the_turn_began_is_repeated() -> None:
    answers = [("idle", "busy"), ("idle",)]
    aborts = []

    async def abort() -> None:
        aborts.append(1)
        for status in answers[len(aborts) - 1]:
            stopper.note_status(status)

    stopper = Stopper(abort, OpenCodeStream("ses_1"))
    stopper.note_prompt()
    await stopper.stop()
    assert len(aborts) == 2
