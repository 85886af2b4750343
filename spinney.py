"""The entry point: runs a command line. Only this file combines core, server and terminal.

Each command imports what it needs when it runs, so that `spinney --help` responds immediately. What
is imported before a terminal is opened stays in memory in the process in front of it
(`tui.terminal.supervisor`) for its whole life: almost nothing, not even `typing` and `pathlib`.
"""

import gc
import importlib
import os
import sys

_HOME = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 - see above
# Spinney is started inside projects that may have packages with the names of its own.
sys.path[:] = [_HOME, *(entry for entry in sys.path if entry not in ("", _HOME))]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from pathlib import Path

    from model.base.instance import InstanceLock
    from model.base.paths import Directories
    from model.client.base import Client
    from server.engine import Engine
    from tui.shell.app import Connect
    from tui.terminal.supervisor import ForegroundProcess

try:
    _STARTED_IN = os.getcwd()  # noqa: PTH109 - see above
except FileNotFoundError:
    _STARTED_IN = "/"
_TOKEN = "SPINNEY_TOKEN"
"""Environment variable with the token for `spinney attach`."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command line; returns the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        from model.base.standard_streams import make_robust

        make_robust()
        return _run(words)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0  # The reader of our output has gone, as in `spinney events | head`.
    except Exception as error:
        from model.base.errors import SpinneyError, UsageError, exit_code, find_path_error
        from model.base.standard_streams import write_error

        if isinstance(error, FileNotFoundError) and not _has_directory():
            error = SpinneyError(
                "The directory of this shell is gone: it was deleted or moved. Go to another one "
                "and try again.",
                "not_found",
            )
        error = find_path_error(error) or error
        if not isinstance(error, SpinneyError):
            raise
        usage = error.usage if isinstance(error, UsageError) else ""
        if "--json" in words:
            import json

            write_error(json.dumps({"error": error.message, "error_type": error.error_type}) + "\n")
        else:
            write_error(f"{usage}spinney: {error.message}\n")
        return exit_code(error)


def _has_directory() -> bool:
    """Whether the directory in which Spinney was started still exists."""
    try:
        os.getcwd()  # noqa: PTH109 - see above
    except FileNotFoundError:
        return False
    return True


def _run(given: list[str]) -> int:
    if not given:
        return _open(".")  # The most frequent start needs no parser.
    if given[0] == "__names":  # Shell completion waits for it.
        from model.cli.names import print_names

        return print_names(given[1:])
    from model.cli.parser import read_command_line

    options = read_command_line(given)
    os.environ |= {"SPINNEY_PLAIN": "1"} if getattr(options, "plain", False) else {}
    run = _COMMANDS.get(options.command) or _find_in_module(options.command)
    return int(run(options))


# The terminal ------------------------------------------------------------------------------------


def _open(path: str, *, demo: bool = False) -> int:
    if not os.path.isdir(os.path.expanduser(path)):  # noqa: PTH111, PTH112 - no `pathlib` here
        from model.base.errors import UsageError

        raise UsageError(f"There is no folder '{path}'.")
    if os.environ.get("SPINNEY_RESTARTED_WITHOUT_SCREEN"):
        from server.engine import run_without_screen

        run_without_screen(_STARTED_IN, demo=demo)
        return 0
    os.path.abspath(path)  # noqa: PTH100 - fails here if it would fail once the terminal is open
    from tui.terminal.requirements import check_terminal

    check_terminal()
    return _run_behind(lambda foreground: _open_terminal(path, foreground, demo=demo))


def _demo(_: "Namespace") -> int:
    from tui.terminal.requirements import check_terminal

    check_terminal()
    return _run_behind(_run_demo)


def _run_demo(foreground: "ForegroundProcess") -> int:
    import shutil
    import tempfile
    from pathlib import Path

    from model.base.instance import hold_lock
    from model.demo import demo_directories

    home = Path(tempfile.mkdtemp(prefix="spinney-demo-"))
    try:
        paths = demo_directories(home)
        paths.create()
        with hold_lock(paths.lock) as lock:
            return _run_here(paths, lock, None, foreground, demo=True, is_temporary=True)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _attach(options: "Namespace") -> int:
    from tui.terminal.requirements import check_terminal

    check_terminal()
    if options.url is None:
        return _run_behind(lambda foreground: _attach_here(None, foreground))
    token = os.environ.pop(_TOKEN, "")
    if token and "token=" not in options.url:
        return _run_behind(lambda foreground: _attach_remote(options.url, token, foreground))
    from model.client.address import check_reachable, parse_address, prompt_token

    base_url, token_in_url = parse_address(options.url)
    if token_in_url:
        # Every user can list this process's arguments, but only its own can read its environment.
        words = [base_url if word == options.url else word for word in sys.orig_argv[1:]]
        environment = {**os.environ, _TOKEN: token_in_url}
        os.execve(sys.executable, [sys.executable, *words], environment)
    check_reachable(base_url)  # Before prompting for a token.
    token = prompt_token(base_url)
    return _run_behind(lambda foreground: _attach_remote(base_url, token, foreground))


def _run_behind(work: "Callable[[ForegroundProcess], int]") -> int:
    from tui.terminal.supervisor import run_supervised

    return run_supervised(work)


def _open_terminal(path: str, foreground: "ForegroundProcess", *, demo: bool) -> int:
    """Become the Spinney of this data directory, or attach to the one that is running."""
    from model.base.instance import acquire_lock
    from model.base.paths import expand_home, resolve_directories

    paths, offered = resolve_directories(), expand_home(path).absolute()
    paths.create()
    lock = acquire_lock(paths.lock)
    if lock is None:
        return _attach_here(offered, foreground)
    try:
        return _run_here(paths, lock, offered, foreground, demo=demo)
    finally:
        lock.close()


def _run_here(
    paths: "Directories",
    lock: "InstanceLock",
    path: "Path | None",
    foreground: "ForegroundProcess",
    *,
    demo: bool,
    is_temporary: bool = False,
) -> int:
    # Imports create no garbage: the app turns collection on again after the first frame.
    gc.disable()
    from tui.shell.app import SpinneyApp

    engines: list[Engine] = []

    def connect() -> "Client":
        """Called after the first frame has been painted: the engine is large."""
        from server.engine import Engine

        engines.append(Engine(paths, lock, demo=demo, prepared=is_temporary))
        return engines[0].connect()

    app = SpinneyApp(
        connect,
        offer_path=path,
        demo=demo,
        outlived=not is_temporary,
        foreground=foreground,
        data=paths.data,
    )
    try:
        app.run()
        if app.return_code and not is_temporary:
            app.ending = "leave"  # A crash of the terminal must not interrupt the agents.
        if app.ending == "leave" and engines and engines[0].is_up:
            foreground.detach(failed=bool(app.return_code))
            engines[0].run_headless(lambda: app.ending == "leave")
    finally:
        for engine in engines:
            engine.stop()
    if any(engine.is_restarting for engine in engines):
        from model.service.reexecution import replace_process

        lock.hand_over()
        replace_process(_STARTED_IN, environment=foreground.prepare_restart(), has_screen=True)
    return app.return_code or 0


def _attach_here(path: "Path | None", foreground: "ForegroundProcess") -> int:
    from model.base.paths import resolve_directories
    from model.client.endpoint import find_running
    from model.client.local_instance import connect_local

    paths = resolve_directories()
    if path is None:
        find_running(paths)  # Fail before the terminal opens if none is running.

    async def connect() -> "Client":
        return await connect_local(paths)

    return _attach_terminal(connect, path, foreground)


def _attach_remote(url: str, token: str, foreground: "ForegroundProcess") -> int:
    from model.base.errors import NotRunningError
    from model.client.address import parse_address
    from model.client.local_instance import connect_to

    base_url, _ = parse_address(url)

    async def connect() -> "Client":
        try:
            return await connect_to(base_url, token)
        except TimeoutError:
            raise NotRunningError(
                f"{base_url} does not answer. Is Spinney running there?"
            ) from None

    return _attach_terminal(connect, None, foreground, elsewhere=base_url)


def _attach_terminal(
    connect: "Connect", path: "Path | None", foreground: "ForegroundProcess", *, elsewhere: str = ""
) -> int:
    """Open a terminal for a Spinney in another process, which outlives it."""
    gc.disable()
    from model.base.paths import resolve_directories
    from tui.shell.app import SpinneyApp

    app = SpinneyApp(
        connect,
        offer_path=path,
        attached=True,
        elsewhere=elsewhere,
        foreground=foreground,
        data=resolve_directories().data,
    )
    app.run()
    if app.ending == "restart":
        from model.service.reexecution import replace_process

        replace_process(_STARTED_IN, environment=foreground.prepare_restart(), has_screen=True)
    return app.return_code or 0


# Without a terminal ------------------------------------------------------------------------------


def _serve(options: "Namespace") -> int:
    from functools import partial

    from model.base.instance import hold_lock
    from model.base.paths import resolve_directories
    from server.serve import ServeOptions, announce, serve

    paths = resolve_directories()
    paths.create()
    wanted = ServeOptions(
        port=options.port,
        token=options.token,
        localhost_only=False if options.all_interfaces or options.host else None,
        host="" if options.all_interfaces else options.host,
        certificate=options.certificate,
        key=options.key,
        token_required=False if options.no_token else None,
        unsafe_no_token=options.unsafe_no_token,
        demo=options.demo,
    )

    with hold_lock(paths.lock, wait=options.wait) as lock:
        port = serve(paths, lock, wanted, partial(announce, as_json=options.json))
        if port is not None:
            from model.service.reexecution import replace_process

            lock.hand_over()
            replace_process(_STARTED_IN, options=("--port", str(port)))
    return 0


def _schema(_: "Namespace") -> int:
    from model.base.standard_streams import write_json
    from model.cli.reference import schema

    write_json(schema())
    return 0


def _doctor(options: "Namespace") -> int:
    import asyncio
    from dataclasses import asdict

    from model.agents.agents_file import load_catalog
    from model.backends.registry import create_backends
    from model.base.paths import resolve_directories
    from model.base.standard_streams import write_json, write_output
    from model.cli.channel_findings import check_channels
    from model.domain.findings import Finding
    from model.runtime.doctor import examine, format_report
    from model.store.repair import repair_or_restore
    from tui.terminal.capabilities import examine_terminal

    paths = resolve_directories()
    if report := repair_or_restore(paths, repair=options.repair, restore=options.restore):
        write_output(report + "\n")
        return 0
    catalog, problems = load_catalog(paths.models, paths.agents)
    findings = asyncio.run(examine(paths, create_backends(paths.data, catalog), catalog))
    for path in (paths.models, paths.agents):
        findings += [Finding(path.name, False, p) for p in problems if p.startswith(str(path))]
    findings += [*check_channels(paths), examine_terminal()]
    if options.json:
        write_json([asdict(finding) for finding in findings])
    else:
        write_output(format_report(findings) + "\n")
    return 1 if any(finding.ok is False for finding in findings) else 0


def _completion(options: "Namespace") -> int:
    from model.base.standard_streams import write_output
    from model.cli.arguments import callable_names
    from model.cli.completion import completion_script
    from model.cli.parser import build_parser

    write_output(completion_script(options.shell, build_parser(), callable_names()))
    return 0


def _find_in_module(name: str) -> "Callable[[Namespace], int]":
    """Return the function of the module in `model.cli` with the same name, imported on demand."""

    def run(options: "Namespace") -> int:
        function: Callable[[Namespace], int]
        module = name.replace("-", "_")
        function = getattr(importlib.import_module(f"model.cli.{module}"), module)
        return function(options)

    return run


_COMMANDS = {
    "open": lambda options: _open(options.path, demo=options.demo),
    "demo": _demo,
    "attach": _attach,
    "serve": _serve,
    "schema": _schema,
    "doctor": _doctor,
    "completion": _completion,
}
"""Commands that combine parts of the program; each other one is a module in `model.cli`."""


if __name__ == "__main__":
    sys.exit(main())
