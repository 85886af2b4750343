"""`spinney land --train`: bring several worktrees in on top of each other, and land them."""

import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.choices import confirm
from model.cli.lookup import Json
from model.cli.quick_call import request_here

_INTERVAL: Final = 0.5
"""Seconds between two looks at a running train."""
_WORDS: Final = {
    "ready": "ready",
    "conflict": "in conflict: ",
    "failed": "failed: ",
    "left_out": "left out",
}


def run_train(worktrees: list[Json], options: Namespace, report: Callable[[Json], None]) -> int:
    """Run a train of worktrees of one project, in this order, and land it once confirmed.

    With `--yes` it lands only if all of them are ready, with `--keep-going` those that are; on a
    terminal those can land after a question. Returns the exit code, 1 if not all landed.
    """
    projects = {tree["project_id"] for tree in worktrees}
    if len(projects) > 1:
        raise SpinneyError("The worktrees of a train must be of one project.")
    method = {"method": options.method} if options.method else {}
    train = request_here(
        "start_train",
        projectId=projects.pop(),
        worktreeIds=[tree["id"] for tree in worktrees],
        withCheck=not options.ignore_check,
        keepGoing=options.keep_going,
        **method,
    )
    train = _follow(train, is_silent=options.json)
    ready = sum(car["status"] == "ready" for car in train["cars"])
    is_complete = ready == len(train["cars"]) and train["status"] == "ready"
    if train["error"] and not options.json:
        write_output(f"{clean_line(train['error'])}\n")
    can_land = ready and train["status"] in ("ready", "stopped")
    agrees = options.yes and (is_complete or (can_land and options.keep_going))
    if can_land and not options.yes and not options.json:
        base = clean_line(train["base"])
        agrees = confirm(options, f"Land {count(ready, 'worktree')} in {base}?", "land")
    if not agrees:
        if options.json:
            write_json(train)
        elif options.yes:
            more = " Add --keep-going to land them." if can_land else ""
            write_output(f"Nothing landed; {ready} of {len(train['cars'])} are ready.{more}\n")
        return 0 if options.json and is_complete else 1
    after = {"after": options.after} if options.after else {}
    after |= {"stashBase": True} if options.stash else {}
    report(request_here("land_train", trainId=train["id"], **after))
    return 0 if is_complete else 1


def _follow(train: Json, *, is_silent: bool) -> Json:
    """Print each worktree as it is decided, until the train has ended."""
    printed = 0
    while True:
        decided = [car for car in train["cars"] if car["status"] in _WORDS]
        if not is_silent:
            new = decided[printed:]
            write_output("".join(f"{line}\n" for car in new for line in _describe(car)))
        printed = len(decided)
        if train["status"] != "running":
            return train
        time.sleep(_INTERVAL)
        found = request_here("get_train", projectId=train["project_id"])
        if found is None or found["id"] != train["id"]:
            raise SpinneyError("The train was discarded.", "not_found")
        train = found


def _describe(car: Json) -> Iterator[str]:
    about = _WORDS[car["status"]]
    if car["status"] == "conflict":
        about += ", ".join(map(clean_line, car["conflicts"]))
        about += f". {clean_line(car['error'])}" if car["error"] else ""
    elif car["status"] == "failed":
        about += clean_line(car["error"])
    yield f"{clean_line(car['branch'])}: {about}"
