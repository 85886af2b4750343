"""A synchronous WebSocket client of a Spinney server, whose socket is read in a thread."""

import asyncio
import json
import os
from concurrent.futures import Future
from itertools import count
from pathlib import Path
from threading import Condition, Thread
from typing import Any

import aiohttp

from tests.journeys.setup import SCRIPTS, make_configuration
from tests.patience import PATIENCE
from tests.program import FROM_SOURCE, Program


class RefusedError(Exception):
    """The error response to a command."""


class Client:
    """WebSocket client: `call` runs a command, `events` collects the events."""

    def __init__(self, base_url: str, token: str) -> None:
        self.events: list[dict[str, Any]] = []
        """Frames of events, oldest first; `event_added` is notified of each new one."""
        self.event_added = Condition()
        self._numbers = count(1)
        self._responses: dict[str, Future[Any]] = {}
        self._loop = asyncio.new_event_loop()
        self._connected: Future[None] = Future()
        self._thread = Thread(target=self._run, args=(base_url, token), daemon=True)
        self._thread.start()
        self._connected.result(PATIENCE)

    def call(self, command: str, /, **args: Any) -> Any:
        """The data of a command's response. Raises `RefusedError`."""
        response: Future[Any] = Future()
        request_id = f"call-{next(self._numbers)}"
        self._responses[request_id] = response
        frame = json.dumps({"id": request_id, "command": command, "args": args})
        asyncio.run_coroutine_threadsafe(self._socket.send_str(frame), self._loop).result(PATIENCE)
        return response.result(PATIENCE)

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
            for response in self._responses.values():
                response.set_exception(ConnectionError("the server closed the connection"))

    async def _read(self, base_url: str, token: str) -> None:
        parameters = {"token": token, "since": "0"}
        async with (
            aiohttp.ClientSession(base_url) as http,
            http.ws_connect("/ws", params=parameters, max_msg_size=0) as self._socket,
        ):
            self._connected.set_result(None)
            async for message in self._socket:
                self._handle_frame(json.loads(message.data))

    def _handle_frame(self, frame: dict[str, Any]) -> None:
        match frame.get("type"):
            case "response":
                self._responses.pop(frame["id"]).set_result(frame["data"])
            case "error":
                self._responses.pop(frame["id"]).set_exception(RefusedError(frame["error"]))
            case _:
                with self.event_added:
                    self.events.append(frame)
                    self.event_added.notify_all()


def program_command() -> tuple[str, ...]:
    """The command line of the Spinney under test: this checkout or the one in `JOURNEY_SOURCE`."""
    source = os.environ.get("JOURNEY_SOURCE")
    if source is None:
        return FROM_SOURCE
    return (str(Path(source) / ".venv/bin/python"), str(Path(source) / "spinney.py"))


def create_repositories(program: Program, names: tuple[str, ...]) -> list[Path]:
    """Create repositories with a commit each, and a git identity.

    Each has a check script, the last one a setup script, too.
    """
    (program.home / ".gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    repositories = []
    for name in names:
        folder = program.place / name
        folder.mkdir()
        (folder / "README.md").write_text(f"# {name}\n")
        scripts = SCRIPTS if name == names[-1] else ("check",)
        (folder / "spinney.json").write_text(make_configuration(program, scripts))
        repositories.append(program.make_repository(name))
    return repositories
