"""The front door: runs a command line; the one place where core, server and terminal are joined.

Only the standard library is imported here; each command imports what it needs when it runs, so that
`spinney --help` answers at once.
"""

import sys
from pathlib import Path

_HOME = str(Path(__file__).resolve().parent)
# People start Spinney inside projects that have packages of the same names as its own.
sys.path[:] = [_HOME, *(entry for entry in sys.path if entry not in ("", _HOME))]

import argparse
import gc
import importlib
import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model.client.remote import RemoteClient
    from model.doctor import Finding
    from model.paths import Directories


def main(arguments: list[str] | None = None) -> int:
    """Run a command line; returns the exit code."""
    from model.command_line import build_parser
    from model.errors import SpinneyError

    given = sys.argv[1:] if arguments is None else arguments
    parser = build_parser()
    if not given or (given[0] not in _COMMANDS and not given[0].startswith("-")):
        given = ["open", *given]
    options = parser.parse_args(given)
    try:
        return int(_COMMANDS[options.command](options))
    except SpinneyError as error:
        print(f"spinney: {error.message}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has left, as in `spinney events | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


# The terminal ------------------------------------------------------------------------------------


def _open(options: argparse.Namespace) -> int:
    from model.errors import SpinneyError
    from model.paths import directories

    path = Path(options.path).expanduser().absolute()
    if not path.is_dir():
        raise SpinneyError(f"There is no folder {path}. For commands, see: spinney --help")
    return _run_terminal(directories(), path)


def _demo(_: argparse.Namespace) -> int:
    import shutil
    import tempfile

    from model.demo import demo_directories

    place = Path(tempfile.mkdtemp(prefix="spinney-demo-"))
    try:
        return _run_terminal(demo_directories(place), None, demo=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _run_terminal(places: "Directories", path: Path | None, *, demo: bool = False) -> int:
    from model.errors import SpinneyError
    from model.running import hold_lock

    # Textual draws on the error stream, so that one must be a terminal too.
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise SpinneyError("Spinney needs a terminal here. Without one, run: spinney serve")
    places.create()
    # Nothing that is imported becomes garbage: the app collects again from the first frame on.
    gc.disable()
    from tui.app import SpinneyApp

    with hold_lock(places.lock):
        engine = Engine(places, demo=demo)
        try:
            SpinneyApp(engine.connect, offer_path=path, demo=demo, data=places.data).run()
        finally:
            engine.stop()
    return 0


class Engine:
    """The core thread with workspace and server, started when the first frame is on screen."""

    def __init__(self, places: "Directories", *, demo: bool) -> None:
        self._places = places
        self._demo = demo
        self._stop: Any = None

    def connect(self) -> Any:
        """Start everything; returns the terminal's client. Called on a thread of its own."""
        from model.client.local import LocalClient
        from model.core import Core

        core = Core()
        core.start()
        self._stop = core.stop
        from model.commands.server import start_http_server

        workspace = _workspace(self._places, demo=self._demo)
        workspace.http_server = ServerOnDemand(workspace)

        async def start() -> None:
            await workspace.start()
            preferences = workspace.store.state.preferences
            if preferences.http_server_enabled and preferences.http_server_auto_start:
                try:
                    await start_http_server.function(workspace)
                except Exception as error:
                    workspace.problems.append(f"The server did not start: {error}")
            if self._demo:
                from model.demo import prepare

                await prepare(workspace, self._places)

        async def stop() -> None:
            await workspace.http_server.stop()
            await workspace.stop()

        def stop_all() -> None:
            try:
                core.submit(stop()).result(timeout=15)
            finally:
                core.stop()

        core.submit(start()).result()
        self._stop = stop_all
        return LocalClient(core, workspace)

    def stop(self) -> None:
        """End agents, server and core."""
        if self._stop is not None:
            self._stop()


class ServerOnDemand:
    """A terminal's server, imported when somebody starts it: most never do, and it is large."""

    def __init__(self, workspace: Any) -> None:
        self._workspace = workspace
        self._server: Any = None

    def status(self) -> dict[str, Any]:
        """As `Server.status`."""
        from model.commands.server import stopped_status

        if self._server is None:
            return stopped_status(self._workspace.store.state.preferences)
        return dict(self._server.status())

    async def start(self, port: int, *, localhost_only: bool, token_required: bool) -> None:
        """As `Server.start`."""
        import asyncio

        if self._server is None:
            server = await asyncio.to_thread(importlib.import_module, "server.app")
            self._server = server.Server(self._workspace)
        await self._server.start(port, localhost_only=localhost_only, token_required=token_required)

    async def stop(self) -> None:
        """As `Server.stop`."""
        if self._server is not None:
            await self._server.stop()


def _workspace(places: "Directories", *, demo: bool) -> Any:
    import logging

    from model.agents_file import load_catalog
    from model.backends.all import all_backends
    from model.running import log_to
    from model.workspace import Workspace

    log_to(places.log, os.environ.get("SPINNEY_LOG", "info"))
    catalog, problems = load_catalog(places.models, places.agents)
    for problem in problems:
        logging.getLogger(__name__).warning(problem)
    agents = all_backends(places.data, catalog, demo=demo)
    workspace = Workspace(places, agents, catalog, demo=demo)
    workspace.problems += problems
    return workspace


# Without a terminal ------------------------------------------------------------------------------


def _serve(options: argparse.Namespace) -> int:
    import asyncio

    from model.paths import directories
    from model.running import hold_lock

    places = directories()
    places.create()
    with hold_lock(places.lock):
        return asyncio.run(_serve_until_stopped(options, places))


async def _serve_until_stopped(options: argparse.Namespace, places: "Directories") -> int:
    import asyncio
    import signal

    from model.commands.preferences import update_preferences
    from model.commands.server import get_http_server_token, start_http_server
    from server.app import Server

    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    workspace = _workspace(places, demo=options.demo)
    await workspace.start()
    workspace.http_server = Server(workspace, unsafe_no_token=options.unsafe_no_token)
    try:
        if options.token is not None:
            changes = {"http_server_token": options.token}
            await update_preferences.function(workspace, changes)
        status = await start_http_server.function(
            workspace,
            options.port,
            False if options.all_interfaces else None,
            False if options.no_token or options.unsafe_no_token else None,
        )
        token = await get_http_server_token.function(workspace)
        for problem in workspace.problems:
            print(f"spinney: {problem}", file=sys.stderr)
        _announce(status, token, as_json=options.json)
        # What is here now stays: full collections need not look at it again.
        gc.freeze()
        await stopped.wait()
    finally:
        await workspace.http_server.stop()
        await workspace.stop()
    return 0


def _announce(status: dict[str, Any], token: str, *, as_json: bool) -> None:
    if as_json:
        shown = {"base_url": status["base_url"], "port": status["port"]}
        line = json.dumps({**shown, "token": token, "pid": os.getpid()})
    elif status["token_required"]:
        line = f"Spinney answers at {status['base_url']}/#token={token}  (ctrl+c ends it)"
    else:
        line = f"Spinney answers at {status['base_url']}, without a token  (ctrl+c ends it)"
    print(line, flush=True)


def _call(options: argparse.Namespace) -> int:
    import asyncio

    async def run() -> Any:
        client = _running_client()
        try:
            return await client.call_raw(options.name, _wire_arguments(options.arguments))
        finally:
            await client.close()

    print(json.dumps(asyncio.run(run()), ensure_ascii=False, indent=2))
    return 0


def _wire_arguments(given: list[str]) -> dict[str, Any]:
    """`name=value` words and JSON objects as one object of arguments."""
    from model.errors import SpinneyError

    arguments: dict[str, Any] = {}
    for word in given:
        if word.lstrip().startswith("{"):
            try:
                arguments |= json.loads(word)
            except ValueError as error:
                raise SpinneyError(f"Not a JSON object: {word} ({error})") from None
            continue
        name, found, value = word.partition("=")
        if not found:
            raise SpinneyError(f"Not name=value and no JSON object: {word}")
        try:
            arguments[name] = json.loads(value)
        except ValueError:
            arguments[name] = value
    return arguments


def _events(_: argparse.Namespace) -> int:
    import asyncio

    from model.client.base import Happened, Lost

    async def follow() -> None:
        client = _running_client()
        try:
            async for update in client.updates():
                match update:
                    case Happened():
                        for event in update.events:
                            print(event.frame(), flush=True)
                    case Lost():
                        print(f"spinney: {update.reason}", file=sys.stderr)
        finally:
            await client.close()

    asyncio.run(follow())
    return 0


def _schema(_: argparse.Namespace) -> int:
    from model.reference import schema

    print(json.dumps(schema(), indent=2))
    return 0


def _running_client() -> "RemoteClient":
    from model.client.remote import RemoteClient
    from model.paths import directories
    from model.running import running_server

    note = directories().server
    return RemoteClient(*running_server(note), find=lambda: running_server(note))


def _doctor(options: argparse.Namespace) -> int:
    import asyncio
    from dataclasses import asdict

    from model.agents_file import load_catalog
    from model.backends.all import all_backends
    from model.doctor import Finding, examine
    from model.paths import directories

    places = directories()
    catalog, problems = load_catalog(places.models, places.agents)
    findings = asyncio.run(examine(places, all_backends(places.data, catalog), catalog))
    for path in (places.models, places.agents):
        told = [problem for problem in problems if problem.startswith(str(path))]
        findings += [Finding(path.name, False, problem) for problem in told]
    findings.append(_terminal())
    if options.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        marks = {True: "ok ", False: "BAD", None: " · "}
        for finding in findings:
            print(f"{marks[finding.ok]}  {finding.name:<14} {finding.found}")
            if finding.remedy:
                print(f"{'':<20}{finding.remedy}")
    return 1 if any(finding.ok is False for finding in findings) else 0


def _terminal() -> "Finding":
    import shutil

    from model.doctor import Finding
    from tui.terminal import Terminal, size_problem

    if not sys.stdout.isatty():
        return Finding("terminal", None, "not looked at: the output goes elsewhere")
    size = shutil.get_terminal_size()
    terminal = Terminal.of(os.environ)
    facts = [f"{size.columns}×{size.lines}", "dark" if terminal.dark else "light"]
    facts += ["colours" if terminal.colors else "no colours (NO_COLOR)"]
    facts += ["over SSH"] if terminal.remote else []
    facts += ["in tmux"] if terminal.tmux else []
    problem = size_problem(size.columns, size.lines)
    return Finding("terminal", problem is None, ", ".join(facts), problem or "")


def _completion(options: argparse.Namespace) -> int:
    from model.command_line import build_parser
    from model.completion import completion_script

    print(completion_script(options.shell, build_parser()), end="")
    return 0


_COMMANDS = {
    "open": _open,
    "demo": _demo,
    "serve": _serve,
    "call": _call,
    "events": _events,
    "schema": _schema,
    "doctor": _doctor,
    "completion": _completion,
}


if __name__ == "__main__":
    sys.exit(main())
