"""The front door: runs a command line; the one place where core, server and terminal are joined.

Each command imports what it needs when it runs, so that `spinney --help` answers at once. What is
imported before a terminal is opened stays in the process in front of it
(`tui.terminal.supervisor`) as long as that lives: almost nothing, not even `typing` and `pathlib`.
"""

import gc
import os
import sys

_HOME = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 - see above
# People start Spinney inside projects that have packages of the same names as its own.
sys.path[:] = [_HOME, *(entry for entry in sys.path if entry not in ("", _HOME))]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from model.base.instance import Lock
    from model.base.paths import Directories
    from model.client.base import Client
    from server.engine import Engine
    from tui.shell.app import Connect
    from tui.terminal.supervisor import Leash

_TOKEN = "SPINNEY_TOKEN"
"""The environment variable with the token of the Spinney to attach to."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command line; returns the exit code."""
    try:
        from model.base.standard_streams import steady

        steady()
        return _run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0  # Whoever read our output has left, as in `spinney events | head`.
    except Exception as error:
        from model.base.errors import SpinneyError, UsageError, exit_code
        from model.base.standard_streams import complain

        if not isinstance(error, SpinneyError):
            raise
        usage = error.usage if isinstance(error, UsageError) else ""
        complain(f"{usage}spinney: {error.message}\n")
        return exit_code(error)


def _run(given: list[str]) -> int:
    if not given:
        return _open(".")  # The usual start needs no parser.
    from model.cli.parser import read_command_line

    options = read_command_line(given)
    os.environ |= {"SPINNEY_PLAIN": "1"} if getattr(options, "plain", False) else {}
    return int(_COMMANDS[options.command](options))


# The terminal ------------------------------------------------------------------------------------


def _open(path: str, *, demo: bool = False) -> int:
    if not os.path.isdir(os.path.expanduser(path)):  # noqa: PTH111, PTH112 - no `pathlib` here
        from model.base.errors import UsageError

        raise UsageError(f"There is no folder '{path}'.")
    _check_terminal()
    return _behind(lambda leash: _show(path, leash, demo=demo))


def _demo(_: "Namespace") -> int:
    _check_terminal()
    return _behind(_demonstrate)


def _demonstrate(leash: "Leash") -> int:
    import shutil
    import tempfile
    from pathlib import Path

    from model.base.instance import hold_lock
    from model.demo import demo_directories

    place = Path(tempfile.mkdtemp(prefix="spinney-demo-"))
    try:
        places = demo_directories(place)
        places.create()
        with hold_lock(places.lock) as lock:
            return _run_here(places, lock, None, leash, demo=True, thrown_away=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _attach(options: "Namespace") -> int:
    _check_terminal()
    if options.url is None:
        return _behind(lambda leash: _look_into_here(None, leash))
    token = os.environ.pop(_TOKEN, "")
    if token and "token=" not in options.url:
        return _behind(lambda leash: _look_into_there(options.url, token, leash))
    from model.client.address import asked_token, check_reachable, parse_address

    base_url, told = parse_address(options.url)
    if told:
        # Everybody can list this process's words; nobody else can read its environment.
        words = [base_url if word == options.url else word for word in sys.orig_argv[1:]]
        os.execve(sys.executable, [sys.executable, *words], {**os.environ, _TOKEN: told})
    check_reachable(base_url)  # Nobody should type a token for an address where nobody is.
    token = asked_token(base_url)
    return _behind(lambda leash: _look_into_there(base_url, token, leash))


def _check_terminal() -> None:
    # Textual draws on the error stream, so that one must be a terminal too.
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        from model.base.errors import SpinneyError

        raise SpinneyError("Spinney needs a terminal here. Without one, run: spinney serve")
    if os.environ.get("TERM") == "dumb":
        from model.base.errors import SpinneyError

        raise SpinneyError(
            "Spinney cannot draw in this terminal (TERM is dumb). Use another terminal, or the "
            "page: spinney serve"
        )
    colors = os.environ.get("TEXTUAL_COLOR_SYSTEM", "auto")
    if colors not in ("auto", "truecolor", "256", "standard"):
        from model.base.errors import UsageError

        raise UsageError(
            f"TEXTUAL_COLOR_SYSTEM is '{colors}' in the environment: it must be auto, truecolor, "
            "256 or standard."
        )


def _behind(work: "Callable[[Leash], int]") -> int:
    from tui.terminal.supervisor import run_behind

    return run_behind(work)


def _show(path: str, leash: "Leash", *, demo: bool) -> int:
    """Be the Spinney of this data directory, or a screen of the one that runs already."""
    from pathlib import Path

    from model.base.instance import take_lock
    from model.base.paths import directories

    places, offered = directories(), Path(path).expanduser().absolute()
    places.create()
    lock = take_lock(places.lock)
    if lock is None:
        return _look_into_here(offered, leash)
    try:
        return _run_here(places, lock, offered, leash, demo=demo)
    finally:
        lock.close()


def _run_here(
    places: "Directories",
    lock: "Lock",
    path: "Path | None",
    leash: "Leash",
    *,
    demo: bool,
    thrown_away: bool = False,
) -> int:
    # Nothing that is imported becomes garbage: the app collects again from the first frame on.
    gc.disable()
    from tui.shell.app import SpinneyApp

    engines: list[Engine] = []

    def connect() -> "Client":
        """Called once the first frame stands: the engine is large."""
        from server.engine import Engine

        engines.append(Engine(places, lock, demo=demo, prepared=thrown_away))
        return engines[0].connect()

    app = SpinneyApp(
        connect,
        offer_path=path,
        demo=demo,
        outlived=not thrown_away,
        leash=leash,
        data=places.data,
    )
    try:
        app.run()
        if app.return_code and not thrown_away:
            app.ending = "leave"  # What broke in the screen is no reason to interrupt the agents.
        if app.ending == "leave" and engines and engines[0].is_up:
            leash.let_go(failed=bool(app.return_code))
            engines[0].run_headless(lambda: app.ending == "leave")
    finally:
        for engine in engines:
            engine.stop()
    return app.return_code or 0


def _look_into_here(path: "Path | None", leash: "Leash") -> int:
    from model.base.paths import directories
    from model.client.local_instance import connected, found

    places = directories()
    if path is None:
        found(places)  # Asked for by name: that it is not here is said without a screen.

    async def connect() -> "Client":
        return await connected(places)

    return _look_into(connect, path, leash)


def _look_into_there(url: str, token: str, leash: "Leash") -> int:
    from model.base.errors import NobodyThereError
    from model.client.address import parse_address
    from model.client.local_instance import reached

    base_url, _ = parse_address(url)

    async def connect() -> "Client":
        try:
            return await reached(base_url, token)
        except TimeoutError:
            raise NobodyThereError(
                f"{base_url} does not answer. Is Spinney running there?"
            ) from None

    return _look_into(connect, None, leash, elsewhere=base_url)


def _look_into(
    connect: "Connect", path: "Path | None", leash: "Leash", *, elsewhere: str = ""
) -> int:
    """A screen of a Spinney that lives elsewhere, and lives on when the screen is closed."""
    gc.disable()
    from model.base.paths import directories
    from tui.shell.app import SpinneyApp

    app = SpinneyApp(
        connect,
        offer_path=path,
        attached=True,
        elsewhere=elsewhere,
        leash=leash,
        data=directories().data,
    )
    app.run()
    return app.return_code or 0


# Without a terminal ------------------------------------------------------------------------------


def _serve(options: "Namespace") -> int:
    from model.base.instance import hold_lock
    from model.base.paths import directories
    from model.base.standard_streams import complain
    from server.serve import ServeOptions, serve

    places = directories()
    places.create()
    wanted = ServeOptions(
        port=options.port,
        token=options.token,
        localhost_only=False if options.all_interfaces else None,
        token_required=False if options.no_token else None,
        unsafe_no_token=options.unsafe_no_token,
        demo=options.demo,
    )

    def announce(status: "dict[str, Any]", token: str, problems: list[str]) -> None:
        for problem in problems:
            complain(f"spinney: {problem}\n")
        _announce(status, token, as_json=options.json)

    with hold_lock(places.lock) as lock:
        serve(places, lock, wanted, announce)
    return 0


def _announce(status: "dict[str, Any]", token: str, *, as_json: bool) -> None:
    import json

    from model.base.standard_streams import put

    if as_json:
        shown = {"base_url": status["base_url"], "port": status["port"]}
        line = json.dumps({**shown, "token": token, "pid": os.getpid()})
    elif status["token_required"]:
        line = f"Spinney answers at {status['base_url']}/#token={token}  (ctrl+c ends it)"
    else:
        line = f"Spinney answers at {status['base_url']}, without a token  (ctrl+c ends it)"
    put(line + "\n")


def _stop(_: "Namespace") -> int:
    import asyncio

    from model.base.paths import directories
    from model.base.standard_streams import put
    from model.client.local_instance import end

    put(asyncio.run(end(directories())) + "\n")
    return 0


def _call(options: "Namespace") -> int:
    from model.cli.call import call

    return call(options)


def _events(options: "Namespace") -> int:
    import asyncio

    from model.cli.events import follow

    asyncio.run(follow(options.since))
    return 0


def _schema(_: "Namespace") -> int:
    import json

    from model.base.standard_streams import put_json
    from model.cli.reference import schema

    put_json(json.dumps(schema(), indent=2))
    return 0


def _doctor(options: "Namespace") -> int:
    import asyncio
    import json
    from dataclasses import asdict

    from model.agents.agents_file import load_catalog
    from model.backends.all import all_backends
    from model.base.paths import directories
    from model.base.standard_streams import put, put_json
    from model.runtime.doctor import Finding, as_text, examine
    from model.store.repair import mend
    from tui.terminal.capabilities import examine_terminal

    places = directories()
    if told := mend(places, repair=options.repair, restore=options.restore):
        put(told + "\n")
        return 0
    catalog, problems = load_catalog(places.models, places.agents)
    findings = asyncio.run(examine(places, all_backends(places.data, catalog), catalog))
    for path in (places.models, places.agents):
        findings += [Finding(path.name, False, p) for p in problems if p.startswith(str(path))]
    findings.append(examine_terminal())
    if options.json:
        put_json(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        put(as_text(findings) + "\n")
    return 1 if any(finding.ok is False for finding in findings) else 0


def _export(options: "Namespace") -> int:
    from model.base.standard_streams import put
    from model.cli.export import export

    put(export(options.folder, options.database) + "\n")
    return 0


def _completion(options: "Namespace") -> int:
    from model.base.standard_streams import put
    from model.cli.arguments import callable_names
    from model.cli.completion import completion_script
    from model.cli.parser import build_parser

    put(completion_script(options.shell, build_parser(), callable_names()))
    return 0


_COMMANDS = {
    "open": lambda options: _open(options.path, demo=options.demo),
    "demo": _demo,
    "attach": _attach,
    "stop": _stop,
    "serve": _serve,
    "call": _call,
    "events": _events,
    "schema": _schema,
    "doctor": _doctor,
    "export": _export,
    "completion": _completion,
}


if __name__ == "__main__":
    sys.exit(main())
