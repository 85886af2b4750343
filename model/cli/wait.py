"""`spinney wait`: wait until sessions are done or need a person."""

from argparse import Namespace

from model.base.errors import SpinneyError
from model.base.standard_streams import write_error, write_json, write_output
from model.cli.lookup import Json, find_session, list_sessions
from model.cli.quick_call import connect_here
from model.cli.session_lines import format_rows
from model.cli.waiting import TIMED_OUT, join_exit_codes, wait_for


def wait(options: Namespace) -> int:
    """Wait for the sessions of the command line; returns the exit code, which says how it ended."""
    with connect_here() as connection:
        rows = list_sessions(connection, archived="include")
    found = [find_session(rows, word)["id"] for word in options.sessions or [None]]
    ids = list(dict.fromkeys(found))

    def report(row: Json) -> None:
        if not options.json:
            write_output(format_rows([row], with_place=True)[0] + "\n")

    settled = wait_for(ids, options.timeout, only_first=options.any, report=report)
    if settled is None:
        write_error("spinney: The time is over; not all of them are done.\n")
        return TIMED_OUT
    if options.json:
        write_json({"sessions": settled})
    if not options.any and len(settled) < len(ids):
        raise SpinneyError("A session was deleted meanwhile.", "not_found")
    return join_exit_codes(settled)
