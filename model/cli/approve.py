"""`spinney approve` and `deny`: decide about a plan or a permission that a session waits for."""

from argparse import Namespace
from typing import Any

from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.choices import confirm
from model.cli.lookup import SHORT_ID, Json
from model.cli.quick_call import Connection, connect_here
from model.cli.requests import describe_request, find_waiting_session


def approve(options: Namespace) -> int:
    """Show what is asked, ask, and approve it; returns the exit code, 1 if it was not confirmed."""
    with connect_here() as connection:
        session = find_waiting_session(connection, options.session, "plan permission")
    request = session["request"]
    _check(request, options)
    if options.json and not options.yes:
        write_json(request)
        return 0
    if not options.json:
        lines = [f"{clean_line(session['name'])}  {session['id'][:SHORT_ID]}"]
        lines += describe_request(request)
        if request["session_scope"]:
            lines.append(f"With --for-session: {clean_line(request['session_scope'])}")
        write_output("".join(f"{line}\n" for line in lines))
    if not options.yes and not confirm(options, _question(request, options), "approve"):
        return 1
    with connect_here() as connection:
        result = _approve(connection, session, options)
    if options.json:
        write_json(result)
    else:
        new = f" in {result['id'][:SHORT_ID]}" if options.new_session else ""
        write_output(f"Approved{new}.\n" if request["kind"] == "plan" else "Allowed.\n")
    return 0


def deny(options: Namespace) -> int:
    """Deny the permission that a session waits for; returns the exit code."""
    with connect_here() as connection:
        session = find_waiting_session(connection, options.session, "permission")
        reason = {"reason": options.reason} if options.reason else {}
        result = connection.call(
            "answer_permission",
            sessionId=session["id"],
            requestId=session["request"]["id"],
            decision="deny",
            **reason,
        )
    if options.json:
        write_json(result)
    else:
        lines = [*describe_request(session["request"]), "Denied."]
        write_output("".join(f"{line}\n" for line in lines))
    return 0


def _check(request: Json, options: Namespace) -> None:
    """Raise `UsageError` for options that do not concern what is asked."""
    of_plan = [name for name in ("mode", "new_session") if getattr(options, name)]
    if request["kind"] == "permission" and of_plan:
        options.parser.error("--build, --yolo and --new-session: only for a plan")
    if request["kind"] == "plan" and options.for_session:
        options.parser.error("--for-session: only for a permission")


def _question(request: Json, options: Namespace) -> str:
    if request["kind"] == "permission":
        return "Allow it for the whole session?" if options.for_session else "Allow it?"
    where = " in a new session" if options.new_session else ""
    return f"Carry the plan out in {options.mode or 'build'} mode{where}?"


def _approve(connection: Connection, session: Json, options: Namespace) -> Any:
    request = session["request"]
    named = {"sessionId": session["id"], "requestId": request["id"]}
    if request["kind"] == "permission":
        decision = "allow_session" if options.for_session else "allow"
        return connection.call("answer_permission", **named, decision=decision)
    mode = options.mode or "build"
    return connection.call("approve_plan", **named, mode=mode, fresh=options.new_session)
