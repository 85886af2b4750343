"""Chooses what the words of a command line stand for, and asks before something is done."""

import sys
from argparse import Namespace
from collections.abc import Sequence

from model.base.errors import SpinneyError
from model.base.standard_streams import write_output
from model.base.text import clean_line
from model.cli.lookup import Json


def choose(found: Sequence[Json], what: str, wanted: str, hint: str) -> Json:
    """Return the only one that was found.

    Raises `SpinneyError` if it is none or several: `what` names its kind, `hint` what to do.
    """
    if len(found) == 1:
        return found[0]
    which = f"More than one {what} has" if found else f"No {what} has"
    raise SpinneyError(
        f"{which} the name or id '{clean_line(wanted)}'. {hint}",
        "conflict" if found else "not_found",
    )


def confirm(options: Namespace, question: str, what: str) -> bool:
    """Ask on the terminal; end with an error where there is none to ask on.

    Args:
        options: Of a command that has `--yes`.
        question: What is asked, with its question mark.
        what: What `--yes` does without being asked.
    """
    if not sys.stdin.isatty():
        options.parser.error(f"add --yes to {what} without being asked")
    write_output(f"{question} [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
