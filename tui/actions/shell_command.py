"""Runs `!command` of the message box in the worktree, and sends its output on to the agent."""

from functools import partial
from typing import TYPE_CHECKING, Final

from model.api.scripts import get_command_output, run_command, stop_command
from model.base.code_block import code_block
from model.base.errors import SpinneyError
from tui.desk import Desk
from tui.screens.command_output import CommandOutput, CommandWork, describe_end
from tui.store.places import Place, get_worktree

if TYPE_CHECKING:
    from model.domain.scripts import CommandRun

MAX_SENT: Final = 20_000
"""Characters of the output that are sent to the agent."""


async def run_in_worktree(desk: Desk, key: str, command: str) -> None:
    """Run a command in the worktree of the draft `key`, and show its output."""
    place = Place("session" if key in desk.state.sessions else "worktree", key)
    worktree = get_worktree(place, desk.state)
    if worktree is None:
        raise SpinneyError("The worktree is gone. Open another one.", "not_found")
    call = desk.client.call
    work = CommandWork(
        run=partial(call, run_command, worktree_id=worktree.id, command=command),
        read=partial(call, get_command_output, worktree_id=worktree.id),
        stop=partial(call, stop_command, worktree_id=worktree.id),
    )
    dialog = CommandOutput(worktree.name, command, work, lambda: desk.palette)
    if await desk.ask(dialog) == "send" and dialog.result is not None:
        _send(desk, key, format_for_agent(command, dialog.result))


def _send(desk: Desk, key: str, text: str) -> None:
    """Send the text, unless a request waits, which it would answer."""
    session = desk.state.sessions.get(key)
    if session is not None and session.status == "waiting":
        desk.chat.return_message(key, text)
        desk.say("The output is in the message box: sending it answers the agent's request.")
    else:
        desk.chat.send_text(key, text)


def format_for_agent(command: str, run: "CommandRun") -> str:
    """The message with a command and its output."""
    output = _shorten(run.output.strip("\n"))
    lines = f"$ {command}\n{output}".rstrip()
    block = code_block(lines, "console")
    return f"I ran this in the worktree:\n\n{block}\n\n{describe_end(run)}."


def _shorten(text: str) -> str:
    """The beginning and the end of a long text."""
    if len(text) <= MAX_SENT:
        return text
    half = MAX_SENT // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n… {left_out:,} characters left out …\n{text[-half:]}"
