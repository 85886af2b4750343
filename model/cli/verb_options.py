"""The options of the commands with which a person or a script works with sessions."""

import argparse

from model.cli import verb_help_texts as notes
from model.cli.command_parser import CommandLine, Parser, count, seconds

STATES = ("idle", "running", "waiting", "paused", "failed")
AGENTS_HELP = "claude, codex, opencode or acp:NAME"

_HERE = "by default the one of this directory"


def _add_json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _add_session(parser: Parser, more: str = _HERE) -> None:
    parser.add_argument(
        "session",
        nargs="?",
        metavar="SESSION",
        help=f"its name, the beginning of its id, or its worktree; {more}",
    )


def _add_wait(parser: Parser) -> None:
    parser.add_argument(
        "--wait", action="store_true", help="wait until the agent is done or needs you"
    )
    _add_timeout(parser)


def _add_timeout(parser: Parser) -> None:
    parser.add_argument(
        "--timeout",
        type=seconds,
        metavar="TIME",
        help="wait at most so long (90s, 15m, 2h); exit code 124 then",
    )


def _add_message(parser: Parser) -> None:
    parser.add_argument("--file", metavar="FILE", help="read the text from a file; - is stdin")
    parser.add_argument(
        "--attach", nargs="+", action="extend", default=[], metavar="FILE", help="files to attach"
    )
    parser.add_argument(
        "--id",
        metavar="UUID",
        help="an id of yours: what is repeated with the same id is done only once",
    )


def _add_ls(ls: Parser) -> None:
    ls.add_argument(
        "project", nargs="?", metavar="PROJECT", help="the name of a project; by default all"
    )
    ls.add_argument("--archived", action="store_true", help="archived ones as well")
    _add_json(ls)


def _add_status(status: Parser) -> None:
    _add_session(status, "by default those of this directory, and what waits for you")
    _add_json(status)


def _add_sessions(sessions: Parser) -> None:
    sessions.add_argument("--project", metavar="PROJECT", help="those of one project")
    sessions.add_argument(
        "--state", nargs="+", action="extend", choices=STATES, help="those in one of these states"
    )
    sessions.add_argument("--agent", metavar="AGENT", help=f"those of an agent: {AGENTS_HELP}")
    sessions.add_argument("--archived", action="store_true", help="only archived ones")
    sessions.add_argument(
        "--search", default="", metavar="WORDS", help="words in the names of session and branch"
    )
    sessions.add_argument(
        "-n", "--limit", type=count, default=100, metavar="N", help="how many; by default 100"
    )
    _add_json(sessions)


def _add_new(new: Parser) -> None:
    new.add_argument("prompt", nargs="?", metavar="PROMPT", help="the first message; - is stdin")
    _add_message(new)
    new.add_argument("--project", metavar="PROJECT", help=f"its name or path; {_HERE}")
    new.add_argument("--name", metavar="NAME", help="of the worktree and of its new branch")
    start = new.add_mutually_exclusive_group()
    start.add_argument("--base", metavar="BRANCH", help="what the new branch starts from")
    start.add_argument("--branch", metavar="BRANCH", help="check out this existing branch instead")
    start.add_argument("--issue", metavar="N", help="start from an issue, with its text")
    start.add_argument("--pr", metavar="N", help="start from a pull request, with its text")
    start.add_argument(
        "--worktree", metavar="WORKTREE", help="a new session in an existing worktree; . is here"
    )
    new.add_argument("--session-name", metavar="NAME", help="by default after the message")
    new.add_argument("--agent", metavar="AGENT", help=f"{AGENTS_HELP}; by default as set")
    new.add_argument("--model", metavar="MODEL", help="by default as set")
    new.add_argument(
        "--mode", choices=["plan", "build", "yolo"], default="plan", help="by default plan"
    )
    new.add_argument(
        "--thinking",
        choices=["off", "think", "megathink", "ultrathink"],
        help="how much it thinks; by default as set",
    )
    _add_wait(new)
    _add_json(new)


def _add_send(send: Parser) -> None:
    _add_session(send)
    send.add_argument("text", nargs="?", metavar="TEXT", help="the message; - is stdin")
    when = send.add_mutually_exclusive_group()
    when.add_argument(
        "--at",
        metavar="TIME",
        help="send it later: 18:00, 'tomorrow 9:00', 'in 2 h', or 'reset' of a usage limit",
    )
    when.add_argument("--steer", action="store_true", help="send it into the running turn")
    _add_message(send)
    _add_wait(send)
    _add_json(send)


def _add_wait_options(wait: Parser) -> None:
    wait.add_argument("sessions", nargs="*", metavar="SESSION", help=f"by default {_HERE[11:]}")
    wait.add_argument("--any", action="store_true", help="until the first of them")
    _add_timeout(wait)
    _add_json(wait)


def _add_logs(logs: Parser) -> None:
    _add_session(logs)
    logs.add_argument("-f", "--follow", action="store_true", help="go on with what comes")
    logs.add_argument(
        "-n", "--limit", type=count, metavar="N", help="the last N messages; by default all"
    )
    _add_json(logs)


def _add_approve(approve: Parser) -> None:
    _add_session(approve)
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
    approve.add_argument("--yes", action="store_true", help="do not ask")
    _add_json(approve)


def _add_deny(deny: Parser) -> None:
    _add_session(deny)
    deny.add_argument("--reason", metavar="TEXT", help="what the agent is to do instead")
    _add_json(deny)


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
    _add_json(answer)


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


def _add_diff(diff: Parser) -> None:
    diff.add_argument(
        "place", nargs="?", metavar="WORKTREE | SESSION", help=f"its name or id; {_HERE}"
    )
    what = diff.add_mutually_exclusive_group()
    what.add_argument("--stat", action="store_true", help="how many lines changed in each file")
    what.add_argument("--name-only", action="store_true", help="only the names of the files")
    diff.add_argument("--no-pager", action="store_true", help="print it at once")


def _add_share(share: Parser) -> None:
    _add_session(share)
    share.add_argument("--project", metavar="PROJECT", help="share all sessions of a project")
    share.add_argument(
        "--role",
        choices=("viewer", "approver", "driver"),
        default="viewer",
        help="what the guest may do (default: viewer)",
    )
    share.add_argument(
        "--for",
        dest="time",
        type=seconds,
        default=24 * 3600.0,
        metavar="TIME",
        help="how long it can be used (90m, 2h; default: 24h)",
    )
    share.add_argument("--name", metavar="NAME", help="whom it is for")
    share.add_argument(
        "--devices", type=count, default=1, metavar="N", help="on how many it can be opened"
    )
    share.add_argument(
        "--mode",
        choices=("plan", "build", "yolo"),
        default="build",
        help="the highest mode that the guest can set or approve (default: build)",
    )
    share.add_argument("--no-qr", action="store_true", help="print no QR code")
    _add_json(share)


def _add_guests(guests: Parser) -> None:
    what = guests.add_mutually_exclusive_group()
    what.add_argument("--revoke", metavar="LINK", help="end one, by its id or name")
    what.add_argument("--log", action="store_true", help="what guests did, newest first")
    _add_json(guests)


def _add_resume_command(resume_command: Parser) -> None:
    _add_session(resume_command, "by default the last used of this directory")
    _add_json(resume_command)


VERBS = (
    CommandLine("ls", "list projects, worktrees and sessions", _add_ls, notes.LS),
    CommandLine("status", "show a session, and what waits for you", _add_status, notes.STATUS),
    CommandLine("sessions", "list and search all sessions", _add_sessions, notes.SESSIONS),
    CommandLine("new", "start a task: worktree, session and first message", _add_new, notes.NEW),
    CommandLine("send", "send a message to a session", _add_send, notes.SEND),
    CommandLine("wait", "wait until sessions are done or need you", _add_wait_options, notes.WAIT),
    CommandLine("logs", "print or follow a conversation", _add_logs, notes.LOGS),
    CommandLine("approve", "approve a plan, or allow a request", _add_approve, notes.APPROVE),
    CommandLine("deny", "deny an agent's request", _add_deny, notes.DENY),
    CommandLine("answer", "answer an agent's question", _add_answer, notes.ANSWER),
    CommandLine("stop", "shut down Spinney, or stop sessions", _add_stop, notes.STOP),
    CommandLine("diff", "show what a worktree changed", _add_diff, notes.DIFF),
    CommandLine("share", "share a session or project with a guest", _add_share, notes.SHARE),
    CommandLine("guests", "list guest links, or end one", _add_guests, notes.GUESTS),
    CommandLine(
        "resume-command",
        "print how to go on in the agent's own screen",
        _add_resume_command,
        notes.RESUME_COMMAND,
    ),
)
