"""`spinney logs`: print a conversation, and follow it."""

import time
from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from model.base.errors import NotRunningError
from model.base.standard_streams import write_error, write_json, write_output
from model.base.text import VisibleStream
from model.cli.conversation_text import format_block, format_error, format_heading, format_message
from model.cli.lookup import SHORT_ID, Json, find_last_session, list_sessions
from model.cli.quick_call import Connection, connect_here
from model.cli.sources import open_source

if TYPE_CHECKING:
    from model.cli.saved_data import SavedData

_PAGE: Final = 200
"""Messages that are read at once."""
_RETRY: Final = 1.0
"""Seconds between two attempts to connect again."""


def logs(options: Namespace) -> int:
    """Print the conversation of a session; returns the exit code."""
    if options.follow:
        _Follower(options).run()
    with open_source() as source:
        session = find_last_session(list_sessions(source, archived="include"), options.session)
        for message in read_messages(source, session["id"], options.limit):
            _print(message, options)
        if not options.json:
            queued = source.call("list_queued_messages", sessionId=session["id"])
            write_output("".join(f"{format_message(message)}\n" for message in queued))
    return 0


def read_messages(
    source: "Connection | SavedData", session_id: str, limit: int | None = None
) -> Iterator[Json]:
    """Yield the messages of a session, or only the last ones, oldest first."""
    first = source.call("get_messages", sessionId=session_id, limit=1, offset=0)
    left = min(first["total"], limit or first["total"])
    seen: set[str] = set()
    while left > 0:
        size = min(left, _PAGE)
        left -= size
        page = source.call("get_messages", sessionId=session_id, limit=size, offset=left)
        # Messages that came meanwhile have moved the pages.
        yield from (message for message in page["messages"] if message["id"] not in seen)
        seen = {message["id"] for message in page["messages"]}


def _print(message: Json, options: Namespace) -> None:
    if options.json:
        write_json(message, on_one_line=True)
    else:
        write_output(f"{format_message(message)}\n")


class _Follower:
    """Prints a conversation and what is added to it, also after a restart of Spinney."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        self._last = ""
        """The id of the last message that was printed to its end."""
        self._open: tuple[str, int] = ("", -1)
        """The message and the block that are being printed."""
        self._text = VisibleStream()

    def run(self) -> None:
        """Follow until ctrl+c. Raises `SpinneyError` if no Spinney is running at the start."""
        session_id = ""
        while True:
            try:
                with connect_here() as connection:
                    rows = list_sessions(connection, archived="include")
                    wanted = session_id or self._options.session
                    session_id = find_last_session(rows, wanted)["id"]
                self._follow(session_id)
            except NotRunningError as error:
                if not session_id:
                    raise
                write_error(f"spinney: {error.message}\n")
                self._wait_for_spinney()

    def _follow(self, session_id: str) -> None:
        with connect_here(f"?since=0&session={session_id}") as connection:
            limit = None if self._last else self._options.limit
            messages = list(read_messages(connection, session_id, limit))
            ids = [message["id"] for message in messages]
            new = messages[ids.index(self._last) + 1 :] if self._last in ids else messages
            for message in new:
                self._take(message)
            for frame in connection.events():
                self._take_event(frame, session_id)

    def _wait_for_spinney(self) -> None:
        while True:
            time.sleep(_RETRY)
            try:
                with connect_here():
                    return
            except NotRunningError:
                continue

    def _take(self, message: Json) -> None:
        """Print a message that was read; one that is being written stays open."""
        if message["status"] != "processing":
            self._last = message["id"]
            _print(message, self._options)
        elif not self._options.json:
            write_output(format_heading(message) + "\n")
            write_output("\n\n".join(filter(None, map(format_block, message["content"]))))
            self._open = (message["id"], len(message["content"]) - 1)
            self._text = VisibleStream()

    def _take_event(self, frame: Json, session_id: str) -> None:
        data = frame.get("data") or frame.get("payload") or {}
        if frame["event"] == "events-missed":
            write_error("spinney: Some events are missing. For all of it: spinney logs\n")
        if data.get("session_id") != session_id:
            return
        name = frame["event"]
        if name in ("message-completed", "message-error"):
            self._end(data["message_id"], data, session_id)
        elif self._options.json:
            if name == "message-queued" and data["status"] == "processing":
                write_json(data["message"], on_one_line=True)
        elif name == "message-queued" and data["status"] == "processing":
            _print(data["message"], self._options)
            self._last = data["message"]["id"]
        elif name == "message-started":
            write_output(format_heading(data["message"]) + "\n")
            self._open = (data["message_id"], -1)
        elif name == "content-delta":
            self._take_delta(data)
        elif name == "tool-use":
            block = {"type": "tool_use", "name": data["tool_name"], "input": data["tool_input"]}
            self._take_block(data, block)
        elif name == "message-block":
            self._take_block(data, data["block"])
        elif name == "session-waiting" and data["waiting_for"]:
            what = "answer" if data["waiting_for"] == "question" else "approve"
            key = session_id[:SHORT_ID]
            write_error(f"spinney: It waits for you. See: spinney {what} {key}\n")

    def _take_delta(self, data: Json) -> None:
        if data.get("kind") == "thinking":
            return
        if self._begin(data):
            self._text = VisibleStream()
        write_output(self._text.feed(data["content"]))

    def _take_block(self, data: Json, block: Json) -> None:
        if self._begin(data):
            write_output(format_block(block))

    def _begin(self, data: Json) -> bool:
        """Whether this is a new block; ends the one before."""
        key = (data["message_id"], data["content_index"])
        if key == self._open or (key[0] == self._open[0] and key[1] < self._open[1]):
            return False
        if self._open[1] >= 0:
            write_output(self._text.end() + "\n\n")
            self._text = VisibleStream()
        self._open = key
        return True

    def _end(self, message_id: str, data: Json, session_id: str) -> None:
        self._last = message_id
        if self._options.json:
            with connect_here() as connection:
                for message in read_messages(connection, session_id, 20):
                    if message["id"] == message_id:
                        _print(message, self._options)
            return
        error = f"\n{format_error(data['error'])}" if "error" in data else ""
        write_output(f"{self._text.end()}{error}\n\n")
        self._text, self._open = VisibleStream(), ("", -1)
