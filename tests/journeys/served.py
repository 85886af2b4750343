"""A second client beside the one that is driven: every command and event of a served Spinney.

Synchronous for its callers, who act step by step; its socket is read by a thread of its own.
"""

import asyncio
import json
import os
from concurrent.futures import Future
from itertools import count
from pathlib import Path
from threading import Condition, Thread
from typing import Any

import aiohttp

from tests.journeys.setup import configuration
from tests.patience import PATIENCE
from tests.program import FROM_SOURCE, Program


class RefusedError(Exception):
    """A command's error, as a client reads it."""


class Client:
    """A numbered WebSocket client: `call` runs a command, `events` is what has happened so far."""

    def __init__(self, base_url: str, token: str) -> None:
        self.events: list[dict[str, Any]] = []
        """Frames of events, oldest first; `happened` tells of new ones."""
        self.happened = Condition()
        self._numbers = count(1)
        self._answers: dict[str, Future[Any]] = {}
        self._loop = asyncio.new_event_loop()
        self._connected: Future[None] = Future()
        self._thread = Thread(target=self._run, args=(base_url, token), daemon=True)
        self._thread.start()
        self._connected.result(PATIENCE)

    def call(self, command: str, /, **args: Any) -> Any:
        """The data of a command's response. Raises `RefusedError`."""
        answer: Future[Any] = Future()
        request_id = f"call-{next(self._numbers)}"
        self._answers[request_id] = answer
        frame = json.dumps({"id": request_id, "command": command, "args": args})
        asyncio.run_coroutine_threadsafe(self._socket.send_str(frame), self._loop).result(PATIENCE)
        return answer.result(PATIENCE)

    def close(self) -> None:
        """Close the connection and end the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._reading.cancel)
        self._thread.join(PATIENCE)

    def _run(self, base_url: str, token: str) -> None:
        self._reading = self._loop.create_task(self._read(base_url, token))
        try:
            self._loop.run_until_complete(self._reading)
        except asyncio.CancelledError:
            pass
        except Exception as error:
            if not self._connected.done():
                self._connected.set_exception(error)
        finally:
            self._loop.close()
            for answer in self._answers.values():
                answer.set_exception(ConnectionError("the server has gone"))

    async def _read(self, base_url: str, token: str) -> None:
        address = {"token": token, "since": "0"}
        async with (
            aiohttp.ClientSession(base_url) as http,
            http.ws_connect("/ws", params=address, max_msg_size=0) as self._socket,
        ):
            self._connected.set_result(None)
            async for message in self._socket:
                self._take(json.loads(message.data))

    def _take(self, frame: dict[str, Any]) -> None:
        match frame.get("type"):
            case "response":
                self._answers.pop(frame["id"]).set_result(frame["data"])
            case "error":
                self._answers.pop(frame["id"]).set_exception(RefusedError(frame["error"]))
            case _:
                with self.happened:
                    self.events.append(frame)
                    self.happened.notify_all()


def command() -> tuple[str, ...]:
    """How the Spinney that is walked is started: this one, or the checkout in `JOURNEY_SOURCE`."""
    source = os.environ.get("JOURNEY_SOURCE")
    if source is None:
        return FROM_SOURCE
    return (str(Path(source) / ".venv/bin/python"), str(Path(source) / "spinney.py"))


def prepare_repositories(program: Program, names: tuple[str, ...]) -> list[Path]:
    """Repositories with a file each, and a git that knows who commits; the last has a setup."""
    (program.home / ".gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    made = []
    for name in names:
        folder = program.place / name
        folder.mkdir()
        (folder / "README.md").write_text(f"# {name}\n")
        if name == names[-1]:
            (folder / "spinney.json").write_text(configuration(program))
        made.append(program.made_repository(name))
    return made
