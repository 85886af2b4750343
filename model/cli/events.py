"""`spinney events`: print events, one per line, and reconnect when the connection is lost."""

import asyncio
from argparse import Namespace
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from model.base.errors import SpinneyError, UsageError
from model.base.paths import Directories, resolve_directories
from model.base.standard_streams import write_error, write_json
from model.base.suggestions import did_you_mean
from model.cli.lookup import find_session, list_sessions
from model.cli.quick_call import connect_here
from model.client import endpoint, local_instance
from model.client.remote import BackOff, RemoteClient
from model.domain.events.all import EVENTS

START = 1
"""The first event of a run, that of its server; 0 asks for new events only."""


def events(options: Namespace) -> int:
    """Print events until ctrl+c, as the command line says."""
    wanted = {}
    if options.sessions:
        with connect_here() as connection:
            rows = list_sessions(connection, archived="include")
        wanted["session"] = ",".join(find_session(rows, each)["id"] for each in options.sessions)
    if options.only:
        wanted["only"] = ",".join(options.only)
        for name in filter(None, wanted["only"].split(",")):
            if name not in EVENTS:
                raise UsageError(f"There is no event '{name}'.{did_you_mean(name, EVENTS)}")
    asyncio.run(_follow(options.since, wanted))
    return 0


async def _follow(since: int | None, wanted: Mapping[str, str]) -> None:
    """Start after the event `since`; 0 starts with the oldest that is kept.

    Raises `SpinneyError` if no Spinney is running at the start; later it waits for the next one.
    """
    paths = resolve_directories()
    client = RemoteClient(
        *endpoint.find_endpoint(paths), find=lambda: endpoint.find_endpoint(paths)
    )
    try:
        first = 0 if since is None else max(since, START)
        await _Follower(paths, client, first, wanted).follow()
    finally:
        await client.close()


class _Follower:
    """Keeps the number of the last event, and the run that it belongs to."""

    def __init__(
        self, paths: Directories, client: RemoteClient, since: int, wanted: Mapping[str, str]
    ) -> None:
        self._wanted = wanted
        self._paths = paths
        self._client = client
        self._seq = since
        self._run = ""
        self._last_notice = ""

    async def follow(self) -> None:
        """Print frames; reconnects forever once it was connected."""
        failures = 0
        while True:
            try:
                async with aclosing(self._frames()) as frames:
                    async for frame in frames:
                        failures = 0
                        if self._is_of_another_run(frame):
                            break  # Its numbers start again: reconnect to follow it from its start.
                        self._take(frame)
            except SpinneyError as error:
                if not self._run:
                    raise
                self._notify(error.message)
                await asyncio.sleep(BackOff().pause(failures))
                failures += 1

    async def _frames(self) -> AsyncGenerator[dict[str, Any], None]:
        async with aclosing(self._client.frames(self._seq, self._wanted)) as frames:
            try:
                async with asyncio.timeout(local_instance.RESPONSE_TIMEOUT):
                    hello = await anext(frames)
            except TimeoutError:
                raise endpoint.timeout_error(self._paths, self._client.base_url) from None
            yield hello
            async for frame in frames:
                yield frame

    def _take(self, frame: dict[str, Any]) -> None:
        if frame.get("event") == "hello":
            self._take_hello(frame["payload"])
        elif frame.get("event") == "events-missed":
            self._seq = frame["payload"]["to"]
            if frame["payload"]["from"] <= self._seq:
                self._notify("Some events are missing: Spinney keeps the newest 1000 of its run.")
        elif "seq" in frame:
            self._seq = frame["seq"]
            write_json(frame, on_one_line=True)

    def _is_of_another_run(self, frame: dict[str, Any]) -> bool:
        if frame.get("event") != "hello" or self._run in ("", frame["payload"]["run"]):
            return False
        self._notify("Spinney was restarted.")
        self._run, self._seq = frame["payload"]["run"], START
        return True

    def _take_hello(self, hello: dict[str, Any]) -> None:
        self._last_notice = ""
        self._run = hello["run"]
        self._seq = min(self._seq or hello["seq"], hello["seq"])

    def _notify(self, sentence: str) -> None:
        """Print a sentence, unless it was the last one printed."""
        if sentence != self._last_notice:
            self._last_notice = sentence
            write_error(f"spinney: {sentence}\n")
