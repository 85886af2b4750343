"""`spinney resume-command`: print the command that continues a session in its agent's screen."""

import sys
from argparse import Namespace

from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.lookup import find_last_session, list_sessions
from model.cli.quick_call import connect_here


def resume_command(options: Namespace) -> int:
    """End the session's agent and print the command; returns the exit code."""
    with connect_here() as connection:
        session = find_last_session(list_sessions(connection, archived="include"), options.session)
        found = connection.call("get_resume_command", sessionId=session["id"])
    if options.json:
        write_json(found)
        return 0
    write_output(f"{clean_line(found['command'])}\n")
    if found["note"]:
        sys.stderr.write(f"{clean_line(found['note'])}\n")
    return 0
