"""What a session waits for: the request as text, and the one that a command is about."""

import json
from collections.abc import Iterator

from model.base.errors import SpinneyError
from model.base.text import clean_line, make_visible
from model.cli.conversation_text import format_question
from model.cli.lookup import Json, find_session, list_sessions
from model.cli.quick_call import Connection
from model.cli.styles import paint


def find_waiting_session(connection: Connection, wanted: str | None, kinds: str) -> Json:
    """Return the session of the command line with its `request`, which is of one of these kinds.

    Raises `SpinneyError` if it does not wait for that.
    """
    rows = list_sessions(connection, archived="include")
    row = find_session(rows, wanted, waiting=kinds)
    sessions = connection.call("list_sessions", worktreeId=row["worktree_id"], includeArchived=True)
    session: Json = next(one for one in sessions if one["id"] == row["id"])
    request = session["request"] or session["set_aside_plan"]
    if request is None or request["kind"] not in kinds:
        name = clean_line(session["name"])
        waits = f"waits for {_article(request['kind'])}" if request else "waits for nothing"
        raise SpinneyError(f"'{name}' {waits}.{_hint(request)}", "conflict")
    return {**session, "request": request}


def describe_request(request: Json) -> Iterator[str]:
    """Yield the lines of all that is asked."""
    match request["kind"]:
        case "plan":
            yield paint("Plan:", "bold")
            yield from make_visible(request["plan"]).strip("\n").split("\n")
        case "question":
            for question in request["questions"]:
                yield from format_question(question)
        case _:
            yield f"{paint('Permission:', 'bold')} {clean_line(request['tool_name'])}"
            if request["description"]:
                yield make_visible(request["description"])
            for name, value in request["tool_input"].items():
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                first, *more = make_visible(text).split("\n")
                yield f"  {clean_line(name)}: {first}"
                yield from (f"    {line}" for line in more)
            if request["directory"]:
                yield f"  in {clean_line(request['directory'])}"


def _article(kind: str) -> str:
    return {"plan": "approval of its plan", "question": "an answer"}.get(kind, "a permission")


def _hint(request: Json | None) -> str:
    if request is None:
        return ""
    command = {"plan": "approve", "question": "answer"}.get(request["kind"], "approve")
    return f" See: spinney {command} --help"
