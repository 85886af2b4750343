"""`spinney events`: what happens, a line for each event, also over the end of a connection."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from model.base.errors import SpinneyError
from model.base.paths import Directories, directories
from model.base.standard_streams import complain, put_json
from model.client import local_instance
from model.client.remote import BackOff, RemoteClient

START = 1
"""The event with which a run begins, that of its server; 0 asks for what comes from now on."""


async def follow(since: int | None) -> None:
    """Print events until ctrl+c, at first those after the number `since`, 0 for all that are kept.

    Raises `SpinneyError` where no Spinney runs at the beginning; one that goes away is waited for.
    """
    places = directories()
    client = RemoteClient(
        *local_instance.found_door(places), find=lambda: local_instance.found_door(places)
    )
    try:
        await _Follower(places, client, 0 if since is None else max(since, START)).follow()
    finally:
        await client.close()


class _Follower:
    """Where it stands: the number of the last event, and the run of Spinney that it was of."""

    def __init__(self, places: Directories, client: RemoteClient, since: int) -> None:
        self._places = places
        self._client = client
        self._seq = since
        self._run = ""
        self._told = ""

    async def follow(self) -> None:
        """Print frames; connect again for ever, once there was a connection."""
        failures = 0
        while True:
            try:
                async with aclosing(self._frames()) as frames:
                    async for frame in frames:
                        failures = 0
                        if self._is_of_another_run(frame):
                            break  # Its numbers begin anew: it is followed from its start on.
                        self._take(frame)
            except SpinneyError as error:
                if not self._run:
                    raise
                self._tell(error.message)
                await asyncio.sleep(BackOff().pause(failures))
                failures += 1

    async def _frames(self) -> AsyncGenerator[dict[str, Any], None]:
        async with aclosing(self._client.frames(self._seq)) as frames:
            try:
                async with asyncio.timeout(local_instance.PATIENCE):
                    hello = await anext(frames)
            except TimeoutError:
                raise local_instance.silent(self._places, self._client.base_url) from None
            yield hello
            async for frame in frames:
                yield frame

    def _take(self, frame: dict[str, Any]) -> None:
        if frame.get("event") == "hello":
            self._take_hello(frame["payload"])
        elif frame.get("event") == "events-missed":
            self._seq = frame["payload"]["to"]
            if frame["payload"]["from"] <= self._seq:
                self._tell("Some events are missing: Spinney keeps the newest 1000 of its run.")
        elif "seq" in frame:
            self._seq = frame["seq"]
            put_json(json.dumps(frame, ensure_ascii=False, separators=(",", ":")))

    def _is_of_another_run(self, frame: dict[str, Any]) -> bool:
        if frame.get("event") != "hello" or self._run in ("", frame["payload"]["run"]):
            return False
        self._tell("Spinney was started anew.")
        self._run, self._seq = frame["payload"]["run"], START
        return True

    def _take_hello(self, hello: dict[str, Any]) -> None:
        self._told = ""
        self._run = hello["run"]
        self._seq = min(self._seq or hello["seq"], hello["seq"])

    def _tell(self, sentence: str) -> None:
        """Say it once, however often it is tried again."""
        if sentence != self._told:
            self._told = sentence
            complain(f"spinney: {sentence}\n")
