"""`spinney share`: make a guest link for a session or a project, and print it with its QR code."""

from argparse import Namespace
from typing import Final

from model.base.plural import count
from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.lookup import (
    Json,
    find_project,
    find_session,
    list_projects,
    list_sessions,
    list_worktrees,
)
from model.cli.quick_call import Connection, connect_here

_QUIET: Final = 2
"""Modules around a QR code."""
_BLOCKS: Final = {"00": "█", "01": "▀", "10": "▄", "11": " "}
"""Two rows of a QR code in a row of the terminal, for light text on a dark background."""


def share(options: Namespace) -> int:
    """Make the link and print it; returns the exit code."""
    with connect_here() as connection:
        scope, name = _find_scope(connection, options)
        made = connection.call(
            "create_guest_link",
            **scope,
            role=options.role,
            name=options.name or "",
            hours=options.time / 3600,
            maxDevices=options.devices,
            maxMode=options.mode,
        )
    if options.json:
        write_json(made)
        return 0
    link = made["link"]
    devices = count(link["max_devices"], "device")
    lines = [
        f"{link['role'].capitalize()} of '{clean_line(name)}', for {devices}:",
        made["url"],
        *([] if options.no_qr else ["", *draw_qr(made["rows"])]),
        *([made["hint"]] if made["hint"] else []),
        "It is shown only now. To end it: spinney guests --revoke " + link["id"][:8],
    ]
    write_output("".join(f"{line}\n" for line in lines))
    return 0


def _find_scope(connection: Connection, options: Namespace) -> tuple[Json, str]:
    if options.project is None:
        session = find_session(list_sessions(connection), options.session)
        return {"sessionId": session["id"]}, session["name"]
    projects = list_projects(connection)
    project = find_project(projects, list_worktrees(connection, projects), options.project)
    return {"projectId": project["id"]}, project["name"]


def draw_qr(rows: list[str]) -> list[str]:
    """The lines of a QR code whose dark modules are `1`, light on the terminal's background."""
    width = len(rows[0]) + 2 * _QUIET if rows else 0
    margin = "0" * _QUIET
    framed = ["0" * width] * _QUIET + [f"{margin}{row}{margin}" for row in rows]
    framed += ["0" * width] * (_QUIET + len(rows) % 2)
    pairs = zip(framed[::2], framed[1::2], strict=True)
    return ["".join(_BLOCKS[a + b] for a, b in zip(*pair, strict=True)) for pair in pairs]
