"""The commands that decide what an agent asks, and stop agents."""

import argparse

from model.cli.command_lines.shared import IDS, add_json, add_session, add_yes
from model.cli.command_parser import CommandLine, Parser, count


def _add_approve(approve: Parser) -> None:
    add_session(approve)
    mode = approve.add_mutually_exclusive_group()
    for name, text in (
        ("build", "carry the plan out, with permission for what matters; the default"),
        ("yolo", "carry the plan out without asking"),
    ):
        mode.add_argument(f"--{name}", dest="mode", action="store_const", const=name, help=text)
    approve.add_argument(
        "--new-session", action="store_true", help="carry the plan out in a new session"
    )
    approve.add_argument(
        "--for-session", action="store_true", help="allow a permission for the whole session"
    )
    add_yes(approve)
    add_json(approve)


APPROVE = CommandLine(
    "approve",
    "approve a plan, or allow a request",
    _add_approve,
    f"""\
examples:
  spinney approve            what waits in this directory, after a question
  spinney approve parser --yolo --yes
  spinney approve parser --json   what would be approved, as JSON

What is approved is shown first. With --json, and without --yes, it is only printed. If it was
replaced by something else meanwhile, nothing is approved. Exit code 1: not confirmed.

{IDS}""",
)


def _add_deny(deny: Parser) -> None:
    add_session(deny)
    deny.add_argument("--reason", metavar="TEXT", help="what the agent is to do instead")
    add_json(deny)


DENY = CommandLine(
    "deny",
    "deny an agent's request",
    _add_deny,
    f"""\
examples:
  spinney deny parser --reason "Use the test database"

To change a plan, send a message: spinney send SESSION TEXT

{IDS}""",
)


def _add_answer(answer: Parser) -> None:
    answer.add_argument("session", metavar="SESSION", help="its name, id or worktree; . is here")
    answer.add_argument(
        "texts", nargs="*", metavar="TEXT", help="one for all questions, or one for each"
    )
    answer.add_argument(
        "--option",
        nargs="+",
        type=count,
        action="extend",
        default=[],
        metavar="N",
        help="the number of an option instead, one for each question",
    )
    add_json(answer)


ANSWER = CommandLine(
    "answer",
    "answer an agent's question",
    _add_answer,
    f"""\
examples:
  spinney answer parser              show the question and its options
  spinney answer parser --option 2
  spinney answer . "Keep the old name"

{IDS}""",
)


def _add_stop(stop: Parser) -> None:
    # Words are taken only to say what they need: in `spinney stop $NAME` the name may be empty.
    stop.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    stop.add_argument(
        "--session",
        dest="sessions",
        nargs="+",
        metavar="SESSION",
        help="stop only what runs in these sessions; Spinney goes on",
    )


STOP = CommandLine(
    "stop",
    "shut down Spinney, or stop sessions",
    _add_stop,
    f"""\
examples:
  spinney stop                       shut Spinney down
  spinney stop --session parser      stop what runs in one session

Without --session, agents are stopped, and their output so far is kept. Waits until Spinney has
ended. Exit code 0: nothing is running any more; 1: it did not end; 3: it does not respond. The
message says what to do. --session stops a run; queued messages stay queued.

{IDS}""",
)
