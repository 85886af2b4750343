"""`spinney guests`: list guest links and what was done with them, or end one."""

import time
from argparse import Namespace
from collections.abc import Iterator, Sequence

from model.base.errors import SpinneyError, UsageError
from model.base.moments import format_moment
from model.base.plural import count
from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.lookup import SHORT_ID, Json
from model.cli.quick_call import connect_here


def guests(options: Namespace) -> int:
    """Print links, or the log, or end a link; returns the exit code."""
    with connect_here() as connection:
        links = connection.call("list_guest_links")
        if options.revoke is not None:
            link = _find(links, options.revoke)
            connection.call("revoke_guest_link", linkId=link["id"])
            if options.json:
                write_json(link)
            else:
                write_output(f"Ended the access of '{clean_line(link['name'])}'.\n")
            return 0
        found = connection.call("list_guest_actions", limit=1000) if options.log else links
    if options.json:
        write_json(found)
        return 0
    lines = list(_describe_actions(found) if options.log else _describe_links(found))
    if not lines:
        lines = ["Nothing was done yet." if options.log else "No guest links. See: spinney share"]
    write_output("".join(f"{line}\n" for line in lines))
    return 0


def _find(links: Sequence[Json], wanted: str) -> Json:
    matching = [one for one in links if wanted and one["id"].startswith(wanted)]
    matching = matching or [one for one in links if one["name"] == wanted]
    if not matching:
        raise SpinneyError(
            f"No guest link has the name or id '{clean_line(wanted)}'. For a list: spinney guests",
            "not_found",
        )
    if len(matching) > 1:
        ids = ", ".join(one["id"][:SHORT_ID] for one in matching)
        raise UsageError(f"Several guest links match '{clean_line(wanted)}': {ids}. Use an id.")
    return matching[0]


def _describe_links(links: Sequence[Json]) -> Iterator[str]:
    now = time.time()
    for link in links:
        left = link["expires_at"] - now
        end = f"until {format_moment(link['expires_at'], now)}" if left > 0 else "ended"
        used = "used" if link["last_used"] else "not used yet"
        devices = f"{link['devices']} of {count(link['max_devices'], 'device')}"
        yield (
            f"{link['id'][:SHORT_ID]}  {clean_line(link['name'])}  {link['role']} of"
            f" {clean_line(link['scope_name'])}  {end}, {devices}, {used}"
        )


def _describe_actions(actions: Sequence[Json]) -> Iterator[str]:
    for action in actions:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(action["at"]))
        failed = "" if action["ok"] else " (refused)"
        name, done = clean_line(action["name"]), clean_line(action["action"])
        yield f"{when}  {name}, device {action['device']}: {done}{failed}"
