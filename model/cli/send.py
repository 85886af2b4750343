"""`spinney send`: send a message to a session."""

from argparse import Namespace

from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.lookup import find_session, list_sessions
from model.cli.messages import (
    read_attachments,
    read_id,
    read_message,
    wait_for_answer,
    without_none,
)
from model.cli.quick_call import connect_here


def send(options: Namespace) -> int:
    """Send it; returns the exit code."""
    wanted, text = options.session, options.text
    if text is None and not options.file:
        wanted, text = None, wanted  # One word is the message, for the session of this directory.
    message = read_message(text, options)
    if options.at and options.wait:
        options.parser.error("--wait: not together with --at")
    with connect_here() as connection:
        session = find_session(list_sessions(connection, archived="include"), wanted)
        sent = connection.call(
            "send_chat_message",
            sessionId=session["id"],
            message=message,
            **read_attachments(options),
            **without_none(messageId=read_id(options), sendAt=options.at),
            **({"steer": True} if options.steer else {}),
        )
    if options.json:
        write_json(sent)
    else:
        name = clean_line(session["name"])
        is_queued = sent["status"] == "sent"
        write_output(f"{'Queued for' if is_queued else 'Sent to'} '{name}'.\n")
    return wait_for_answer(session["id"], options) if options.wait else 0
