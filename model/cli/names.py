"""Names for shell completion, one a line: of sessions, worktrees or projects.

A shell waits for this when tab is pressed: it ends within three seconds, and prints nothing without
a running Spinney.
"""

import os
import signal
from collections import Counter
from typing import Final

from model.base.errors import SpinneyError
from model.base.standard_streams import write_output
from model.base.text import clean_line
from model.cli.lookup import SHORT_ID, Json, list_projects, list_sessions, list_worktrees
from model.cli.quick_call import Connection, connect_here

_SECONDS: Final = 3.0
_MAX_NAMES: Final = 1000


def print_names(kinds: list[str]) -> int:
    """Print the names of these kinds: `sessions`, `worktrees`, `projects`; returns 0."""
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        with connect_here() as connection:
            names = [name for kind in kinds for name in _list_names(connection, kind)]
    except SpinneyError:
        return 0
    write_output("".join(f"{name}\n" for name in dict.fromkeys(names[:_MAX_NAMES])))
    return 0


def _list_names(connection: Connection, kind: str) -> list[str]:
    if kind == "sessions":
        return _choose_names(list_sessions(connection))
    projects = list_projects(connection)
    if kind == "projects":
        return _choose_names(projects)
    return _choose_names(list_worktrees(connection, projects))


def _choose_names(items: list[Json]) -> list[str]:
    """Return the name of each, or the beginning of its id if others have the same name.

    A name that a shell could not show as it is has its id, too.
    """
    times = Counter(item["name"] for item in items)
    return [
        name if times[name] == 1 and clean_line(name) == name else item["id"][:SHORT_ID]
        for item in items
        if (name := item["name"])
    ]
