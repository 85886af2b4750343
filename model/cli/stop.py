"""`spinney stop`: shut Spinney down, or stop what runs in sessions."""

import asyncio
import shlex
from argparse import Namespace

from model.base.paths import resolve_directories
from model.base.standard_streams import write_output
from model.base.text import clean_line
from model.cli.lookup import find_session, list_sessions
from model.cli.quick_call import connect_here
from model.client.local_instance import stop_running


def stop(options: Namespace) -> int:
    """Stop Spinney, or only the sessions that are named; returns the exit code."""
    if options.words:
        named = " ".join(map(shlex.quote, options.words))
        options.parser.error(f"to stop only what runs in it: spinney stop --session {named}")
    if options.sessions is None:
        write_output(asyncio.run(stop_running(resolve_directories())) + "\n")
        return 0
    with connect_here() as connection:
        rows = list_sessions(connection, archived="include")
        chosen = [find_session(rows, wanted) for wanted in options.sessions]
        for row in chosen:
            name = clean_line(row["name"])
            if row["status"] not in ("running", "waiting"):
                write_output(f"'{name}' does nothing at the moment.\n")
                continue
            connection.call("stop_generation", sessionId=row["id"])
            write_output(f"Stopped '{name}'.\n")
    return 0
