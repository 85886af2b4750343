"""`spinney status`: show a session, or what there is in this directory and what waits."""

import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from model.base.amounts import format_age, format_number
from model.base.plural import count
from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line, make_visible
from model.cli.arguments import name_of_agent
from model.cli.lookup import (
    SHORT_ID,
    Json,
    find_innermost,
    find_last_session,
    list_sessions,
)
from model.cli.requests import describe_request
from model.cli.session_lines import format_rows
from model.cli.sources import open_source
from model.cli.styles import paint, paint_state


def status(options: Namespace) -> int:
    """Print it; returns the exit code."""
    with open_source() as source:
        rows = list_sessions(source, archived="include" if options.session else "exclude")
        if options.session is None:
            _show_place(rows, options)
            return 0
        row = find_last_session(rows, options.session)
        sessions, worktrees, queued = source.call_all(
            [
                ("list_sessions", {"worktreeId": row["worktree_id"], "includeArchived": True}),
                ("list_worktrees", {"projectId": row["project_id"], "includeArchived": True}),
                ("list_queued_messages", {"sessionId": row["id"]}),
            ]
        )
    session = next(one for one in sessions if one["id"] == row["id"])
    worktree = next(one for one in worktrees if one["id"] == row["worktree_id"])
    if options.json:
        write_json({"session": session, "worktree": worktree, "queued": queued})
    else:
        lines = _describe(row, session, worktree, queued)
        write_output("".join(f"{line}\n" for line in lines))
    return 0


def _show_place(rows: list[Json], options: Namespace) -> None:
    """Print the sessions of this directory, and those that wait anywhere else."""
    places = [{"id": row["worktree_id"], "path": row["worktree_path"]} for row in rows]
    here = find_innermost(places, Path.cwd())
    inside = [row for row in rows if here and row["worktree_id"] == here["id"]]
    waiting = [row for row in rows if row["status"] == "waiting"]
    if options.json:
        write_json({"sessions": inside, "waiting": waiting})
        return
    others = [row for row in waiting if row not in inside]
    running = sum(row["status"] == "running" for row in rows)
    lines = [f"{paint('Here:', 'bold')}", *format_rows(inside)] if inside else []
    if others:
        lines += [paint("Waiting for you:", "bold"), *format_rows(others, with_place=True)]
    lines.append(
        f"{count(len(rows), 'session')}, {running} running, {len(waiting)} waiting for you"
    )
    write_output("".join(f"{line}\n" for line in lines))


def _describe(row: Json, session: Json, worktree: Json, queued: list[Json]) -> Iterator[str]:
    yield f"{paint(clean_line(session['name']), 'bold')}  {session['id']}"
    age = format_age(session["updated_at"], time.time())
    since = "just now" if age == "now" else f"{age} ago"
    archived = ", archived" if session.get("archived_at") else ""
    yield f"State:     {paint_state(row)}{archived}, changed {since}"
    place = f"{clean_line(row['project_name'])} / {clean_line(worktree['name'])}"
    yield f"Worktree:  {place}, branch {clean_line(worktree['branch'])}"
    yield f"Directory: {clean_line(worktree['path'])}"
    model = clean_line(session["answering_model"] or session["model"])
    agent = name_of_agent(session["backend"])
    yield f"Agent:     {agent}, {model or 'its own model'}, mode {session['execution_mode']}"
    usage = session["usage"]
    tokens = sum(number for key, number in usage.items() if key.endswith("_tokens"))
    yield f"Messages:  {session['message_count']}, {format_number(tokens)} tokens"
    run = session["last_run"]
    if run and run["error"]:
        yield f"Failed:    {clean_line(run['error'])}"
    if session["pause"]:
        yield f"Paused:    {clean_line(session['pause']['text'])}"
    for message in queued:
        text = " ".join(b["text"] for b in message["content"] if b["type"] == "text")
        yield f"Queued:    {clean_line(text[:400])[:100]}"
    if session["recap"]:
        yield f"Recap:     {make_visible(session['recap'])}"
    if session["request"]:
        yield ""
        yield from describe_request(session["request"])
        what = "answer" if session["request"]["kind"] == "question" else "approve"
        yield f"\nTo {what}: spinney {what} {session['id'][:SHORT_ID]}"
