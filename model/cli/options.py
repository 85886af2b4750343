"""The commands of the command line in the order of the help, each with its options."""

from model.cli import help_texts as notes
from model.cli.command_parser import CommandLine, Parser, days, number, port, token
from model.cli.service_options import SERVICE_LINES, add_serve_network_options
from model.cli.verb_options import VERBS


def _add_open(opening: Parser) -> None:
    opening.add_argument("path", nargs="?", default=".", metavar="PATH", help="a git repository")
    opening.add_argument("--demo", action="store_true", help="make the demo agent the default")
    _add_plain(opening)


def _add_attach(attach: Parser) -> None:
    attach.add_argument(
        "url", nargs="?", metavar="URL", help="its address; by default the Spinney on this machine"
    )
    _add_plain(attach)


def _add_plain(screen: Parser) -> None:
    screen.add_argument(
        "--plain",
        action="store_true",
        help="screen-reader mode: no boxes, states as words, no animation (also SPINNEY_PLAIN=1)",
    )


def _add_call(call: Parser) -> None:
    call.add_argument(
        "name", nargs="?", metavar="NAME", help="the command; by default, list all commands"
    )
    call.add_argument("arguments", nargs="*", metavar="name=value | JSON")
    call.add_argument(
        "-h", "--help", action="store_true", help="show this help, or that of the command"
    )


def _add_events(events: Parser) -> None:
    events.add_argument(
        "--since", type=number, metavar="N", help="start after the event with this number"
    )
    events.add_argument(
        "--session",
        dest="sessions",
        nargs="+",
        action="extend",
        metavar="SESSION",
        help="only events of these sessions: names or ids",
    )
    events.add_argument(
        "--only",
        nargs="+",
        action="extend",
        metavar="NAME,NAME",
        help="only events with these names",
    )


def _add_why(why: Parser) -> None:
    why.add_argument("place", metavar="FILE:LINE", help="a file of a worktree, and a line")
    why.add_argument("--json", action="store_true", help="print it as JSON")


def _add_usage(usage: Parser) -> None:
    usage.add_argument(
        "--by",
        choices=["day", "model", "agent", "project", "worktree", "session"],
        default="day",
        help="what the rows are about; by default days",
    )
    usage.add_argument("--since", metavar="DATE", help="the first day, such as 2026-11-27")
    usage.add_argument("--until", metavar="DATE", help="the last day")
    form = usage.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print it as JSON, with the limits")
    form.add_argument("--csv", action="store_true", help="print the rows as CSV")


def _add_conflicts(conflicts: Parser) -> None:
    conflicts.add_argument(
        "project", nargs="?", metavar="PROJECT", help="the name of a project; by default all"
    )
    conflicts.add_argument("--json", action="store_true", help="print it as JSON")


def _add_notify(notify: Parser) -> None:
    notify.add_argument("--test", action="store_true", help="send a test notice")
    notify.add_argument(
        "--channel",
        choices=["terminal", "page", "command", "apprise", "ntfy", "push"],
        help="with --test: this one only; by default all that are set up",
    )
    notify.add_argument("--json", action="store_true", help="print it as JSON")


def _add_export(export: Parser) -> None:
    export.add_argument("folder", nargs="?", metavar="FOLDER", help="a new folder")
    export.add_argument(
        "--session", metavar="SESSION", help="print only this one: as Markdown, or with --json"
    )
    export.add_argument(
        "--from",
        dest="database",
        metavar="FILE",
        help="a backup or another database; by default yours",
    )
    export.add_argument("--json", action="store_true", help="with --session: a Message per line")


def _add_completion(completion: Parser) -> None:
    completion.add_argument("shell", choices=["bash", "zsh", "fish"])


def _add_doctor(doctor: Parser) -> None:
    doctor.add_argument("--json", action="store_true", help="print it as JSON")
    doctor.add_argument(
        "--repair", action="store_true", help="repair a damaged database; the damaged file is kept"
    )
    doctor.add_argument(
        "--restore",
        nargs="?",
        const="",
        metavar="BACKUP",
        help="restore a backup of the database; by default the newest",
    )


def _add_recover(recover: Parser) -> None:
    recover.add_argument(
        "action",
        nargs="?",
        choices=["list", "restore", "files"],
        default="list",
        help="list the recovery points, restore a worktree, or list and restore files",
    )
    recover.add_argument(
        "point", nargs="?", metavar="POINT", help="the id of a recovery point, or its beginning"
    )
    recover.add_argument("paths", nargs="*", metavar="FILE", help="files to restore")
    recover.add_argument("--name", metavar="NAME", help="another name for a restored worktree")
    recover.add_argument("--json", action="store_true", help="print it as JSON")


def _add_undo(undo: Parser) -> None:
    undo.add_argument(
        "session",
        nargs="?",
        metavar="SESSION",
        help="its name or the beginning of its id; by default the one that last worked here",
    )
    undo.add_argument("--turn", type=int, metavar="N", help="the turn; by default the newest")
    scope = undo.add_mutually_exclusive_group()
    for name, text in (
        ("files", "undo only its changes to files"),
        ("conversation", "only take the conversation back"),
        ("both", "undo both, which is the default"),
    ):
        scope.add_argument(f"--{name}", dest="what", action="store_const", const=name, help=text)
    for name, text in (
        ("keep", "files that stay as they are"),
        ("before", "files to take as they were before the turn"),
    ):
        undo.add_argument(
            f"--{name}", nargs="+", action="extend", default=[], metavar="PATH", help=text
        )
    undo.add_argument("--yes", action="store_true", help="do not ask")
    undo.add_argument("--redo", action="store_true", help="take an undo back")
    undo.add_argument("--json", action="store_true", help="print it as JSON")


def _add_land(land: Parser) -> None:
    land.add_argument(
        "worktree",
        nargs="?",
        metavar="WORKTREE",
        help="its name, branch or the beginning of its id; by default the one of this directory",
    )
    land.add_argument(
        "--method",
        choices=["merge", "squash", "rebase"],
        help="how; by default as the project or the preferences say",
    )
    land.add_argument(
        "--after",
        choices=["keep", "archive", "delete"],
        help="what becomes of the worktree; by default as the preferences say",
    )
    land.add_argument("--message", metavar="TEXT", help="the message of the merge or squash commit")
    land.add_argument(
        "--ignore-check",
        action="store_true",
        help="land although the check did not pass; a train runs no check",
    )
    what = land.add_mutually_exclusive_group()
    what.add_argument("--undo", action="store_true", help="take the newest landing back")
    what.add_argument(
        "--train",
        nargs="+",
        metavar="WORKTREE",
        help="bring several in, each on top of the one before, and check after each",
    )
    land.add_argument("--yes", action="store_true", help="do not ask")
    land.add_argument("--json", action="store_true", help="print it as JSON")


def _add_prune(prune: Parser) -> None:
    prune.add_argument("--project", metavar="PROJECT", help="the name of a project; by default all")
    prune.add_argument("--merged", action="store_true", help="only those that are merged")
    prune.add_argument(
        "--older-than", type=days, metavar="DAYS", help="only those not used for so many days"
    )
    action = prune.add_mutually_exclusive_group()
    for name, text in (
        ("archive", "archive those that go; their files stay"),
        ("delete", "delete those that go, with directories and branches"),
    ):
        action.add_argument(f"--{name}", dest="action", action="store_const", const=name, help=text)
    prune.add_argument(
        "--delete-remote-branch", action="store_true",
        help="with --delete: delete their branches at the remote, too; those stay deleted",
    )  # fmt: skip
    prune.add_argument("--yes", action="store_true", help="do not ask")
    prune.add_argument("--json", action="store_true", help="print it as JSON")


def _add_serve(serve: Parser) -> None:
    serve.add_argument("--port", type=port, metavar="N", help="port; 0 chooses a free one")
    serve.add_argument(
        "--token",
        type=token,
        metavar="T",
        help="require this token from now on; at least 16 characters",
    )
    serve.add_argument(
        "--all-interfaces", action="store_true", help="accept connections from other machines"
    )
    add_serve_network_options(serve)
    serve.add_argument(
        "--no-token", action="store_true", help="accept clients on this machine without a token"
    )
    serve.add_argument(
        "--unsafe-no-token",
        action="store_true",
        help="with --all-interfaces and --no-token: let everyone on the network in",
    )
    serve.add_argument("--demo", action="store_true", help="make the demo agent the default")
    serve.add_argument("--json", action="store_true", help="print one JSON line when it answers")


COMMAND_LINES = (
    CommandLine(
        "open",
        "open the terminal (also without a command: spinney PATH)",
        _add_open,
        notes.OPEN_NOTES,
    ),
    CommandLine(
        "demo", "open the terminal on a temporary repository with the demo agent", _add_plain
    ),
    CommandLine(
        "attach",
        "open a terminal attached to a running Spinney",
        _add_attach,
        notes.ATTACH_EXAMPLES,
    ),
    *VERBS,
    CommandLine("land", "bring a worktree into its base branch", _add_land, notes.LAND_EXAMPLES),
    CommandLine(
        "undo",
        "undo a turn of an agent: its changes, the conversation",
        _add_undo,
        notes.UNDO_EXAMPLES,
    ),
    CommandLine(
        "prune", "archive or delete worktrees no longer needed", _add_prune, notes.PRUNE_EXAMPLES
    ),
    CommandLine(
        "conflicts",
        "list worktrees that are heading for a conflict",
        _add_conflicts,
        notes.CONFLICTS_EXAMPLES,
    ),
    CommandLine(
        "notify",
        "list what waits for you, or test the channels",
        _add_notify,
        notes.NOTIFY_EXAMPLES,
    ),
    CommandLine("why", "explain why a line is there", _add_why, notes.WHY_EXAMPLES),
    CommandLine(
        "usage", "show what agents used: tokens and cost", _add_usage, notes.USAGE_EXAMPLES
    ),
    CommandLine(
        "recover",
        "bring deleted worktrees and lost files back",
        _add_recover,
        notes.RECOVER_EXAMPLES,
    ),
    CommandLine(
        "export", "export conversations as Markdown and JSON Lines", _add_export, notes.EXPORT_NOTES
    ),
    CommandLine("serve", "run the server without a terminal", _add_serve, notes.SERVE_EXAMPLES),
    *SERVICE_LINES,
    CommandLine(
        "call",
        "run one command of the running Spinney",
        _add_call,
        notes.CALL_EXAMPLES,
        has_help=False,
    ),
    CommandLine(
        "events", "follow events, one JSON object per line", _add_events, notes.EVENTS_EXAMPLES
    ),
    CommandLine("schema", "print every command, event, resource and preference as JSON Schema"),
    CommandLine(
        "doctor",
        "show what is installed, what is missing and how to fix it",
        _add_doctor,
        notes.DOCTOR_NOTES,
    ),
    CommandLine(
        "completion",
        "print a completion script for a shell",
        _add_completion,
        notes.COMPLETION_EXAMPLES,
    ),
)
