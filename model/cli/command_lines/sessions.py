"""The commands with which a person or a script works with sessions."""

from model.cli.command_lines.shared import (
    HERE,
    IDS,
    add_json,
    add_message,
    add_session,
    add_timeout,
    add_wait,
)
from model.cli.command_parser import CommandLine, Parser, count

_STATES = ("idle", "running", "waiting", "paused", "failed")
_AGENTS = "claude, codex, opencode or acp:NAME"


def _add_ls(ls: Parser) -> None:
    ls.add_argument(
        "project", nargs="?", metavar="PROJECT", help="the name of a project; by default all"
    )
    ls.add_argument("--archived", action="store_true", help="archived ones as well")
    add_json(ls)


LS = CommandLine(
    "ls",
    "list projects, worktrees and sessions",
    _add_ls,
    """\
examples:
  spinney ls                 everything, with what is waiting for you
  spinney ls alpha           one project
  spinney ls --json | jq -r '.sessions[] | select(.status == "waiting") | .id'

With --json: {"projects": [Project], "worktrees": [Worktree], "sessions": [SessionRow]}. Without a
running Spinney it shows what was saved last.
""",
)


def _add_status(status: Parser) -> None:
    add_session(status, "by default those of this directory, and what waits for you")
    add_json(status)


STATUS = CommandLine(
    "status",
    "show a session, and what waits for you",
    _add_status,
    f"""\
examples:
  spinney status             the sessions of this directory, and all that wait for you
  spinney status parser      one session: its state, what it asks, its queue

With --json and a SESSION: {{"session": Session, "worktree": Worktree, "queued": [Message]}};
without one: {{"sessions": [SessionRow], "waiting": [SessionRow]}}.

{IDS}""",
)


def _add_sessions(sessions: Parser) -> None:
    sessions.add_argument("--project", metavar="PROJECT", help="those of one project")
    sessions.add_argument(
        "--state", nargs="+", action="extend", choices=_STATES, help="those in one of these states"
    )
    sessions.add_argument("--agent", metavar="AGENT", help=f"those of an agent: {_AGENTS}")
    sessions.add_argument("--archived", action="store_true", help="only archived ones")
    sessions.add_argument(
        "--search", default="", metavar="WORDS", help="words in the names of session and branch"
    )
    sessions.add_argument(
        "-n", "--limit", type=count, default=100, metavar="N", help="how many; by default 100"
    )
    add_json(sessions)


SESSIONS = CommandLine(
    "sessions",
    "list and search all sessions",
    _add_sessions,
    """\
examples:
  spinney sessions --state running waiting
  spinney sessions --project alpha --search "parser rows"
  spinney sessions --archived --json

The last used come first. With --json: {"sessions": [SessionRow], "total": N}.
""",
)


def _add_new(new: Parser) -> None:
    new.add_argument("prompt", nargs="?", metavar="PROMPT", help="the first message; - is stdin")
    add_message(new)
    new.add_argument("--project", metavar="PROJECT", help=f"its name or path; {HERE}")
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
    new.add_argument("--agent", metavar="AGENT", help=f"{_AGENTS}; by default as set")
    new.add_argument("--model", metavar="MODEL", help="by default as set")
    new.add_argument(
        "--mode", choices=["plan", "build", "yolo"], default="plan", help="by default plan"
    )
    new.add_argument(
        "--thinking",
        choices=["off", "think", "megathink", "ultrathink"],
        help="how much it thinks; by default as set",
    )
    add_wait(new)
    add_json(new)


NEW = CommandLine(
    "new",
    "start a task: worktree, session and first message",
    _add_new,
    """\
examples:
  spinney new "Find out why the parser drops the last row"
  spinney new --mode build --name parser-rows --wait "Fix the parser" && spinney diff parser-rows
  git log -5 | spinney new --file - "Explain these commits"
  spinney new --worktree . "Write the tests"

Prints the new worktree and session once the worktree exists; the agent begins when the worktree's
`setup` is done. With --wait it prints the agent's answer, and its exit code is that of
`spinney wait`. With --json: {"worktree": Worktree, "session": Session, "message_id": "…"}.
A PROMPT and --file together: the text of the file follows the prompt.
""",
)


def _add_send(send: Parser) -> None:
    add_session(send)
    send.add_argument("text", nargs="?", metavar="TEXT", help="the message; - is stdin")
    when = send.add_mutually_exclusive_group()
    when.add_argument(
        "--at",
        metavar="TIME",
        help="send it later: 18:00, 'tomorrow 9:00', 'in 2 h', or 'reset' of a usage limit",
    )
    when.add_argument("--steer", action="store_true", help="send it into the running turn")
    add_message(send)
    add_wait(send)
    add_json(send)


SEND = CommandLine(
    "send",
    "send a message to a session",
    _add_send,
    f"""\
examples:
  spinney send parser "Now write the tests"
  spinney send parser --wait - < review.md
  spinney send "Go on"       the session of this directory
  spinney send parser --at reset "Go on"   when its usage limit ends
  spinney send parser --steer "Not that file"   into the running turn

A message to a session at work is queued. One to a session with a plan or a question discusses or
answers it. With --wait it prints the agent's answer, and its exit code is that of `spinney wait`.
With --json: {{"message_id": "…", "status": "…"}}.

{IDS}""",
)


def _add_wait_options(wait: Parser) -> None:
    wait.add_argument("sessions", nargs="*", metavar="SESSION", help=HERE)
    wait.add_argument("--any", action="store_true", help="until the first of them")
    add_timeout(wait)
    add_json(wait)


WAIT = CommandLine(
    "wait",
    "wait until sessions are done or need you",
    _add_wait_options,
    f"""\
examples:
  spinney wait parser && spinney land parser --yes
  spinney wait parser tail docs --any --timeout 15m

Waits until each session is done, waits for you or has failed, and prints one line for each.

exit codes:
  0    all are done
  1    a run failed or was stopped, or the `setup` of its worktree failed
  7    a plan, question or permission waits for you
  8    paused until you resume it; a pause that ends by itself is waited for
  124  the time is over

If several apply, the first of 1, 7, 8 counts. With --json: {{"sessions": [SessionRow]}}.

{IDS}""",
)


def _add_logs(logs: Parser) -> None:
    add_session(logs)
    logs.add_argument("-f", "--follow", action="store_true", help="go on with what comes")
    logs.add_argument(
        "-n", "--limit", type=count, metavar="N", help="the last N messages; by default all"
    )
    add_json(logs)


LOGS = CommandLine(
    "logs",
    "print or follow a conversation",
    _add_logs,
    f"""\
examples:
  spinney logs parser        the whole conversation
  spinney logs -f -n 1       the last message of this directory's session, and what comes
  spinney logs parser --json | jq .role

With --json each line is a Message; with -f, each message once it is complete. Without a running
Spinney it prints what was saved last.

{IDS}""",
)


def _add_resume_command(resume_command: Parser) -> None:
    add_session(resume_command, "by default the last used of this directory")
    add_json(resume_command)


RESUME_COMMAND = CommandLine(
    "resume-command",
    "print how to go on in the agent's own screen",
    _add_resume_command,
    """\
examples:
  spinney resume-command parser         cd ~/spinney/alpha/parser && claude --resume …
  eval "$(spinney resume-command)"      go there at once

The session's agent is ended first, so that both do not write. What is said there is added to the
session with its next message. Fails during a turn.
""",
)
