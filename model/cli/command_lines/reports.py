"""The commands that report and keep: notices, usage, exports, the doctor."""

from model.cli.command_lines.shared import add_json
from model.cli.command_parser import CommandLine, Parser


def _add_notify(notify: Parser) -> None:
    notify.add_argument("--test", action="store_true", help="send a test notice")
    notify.add_argument(
        "--channel",
        choices=["terminal", "page", "command", "apprise", "ntfy", "push"],
        help="with --test: this one only; by default all that are set up",
    )
    add_json(notify)


NOTIFY = CommandLine(
    "notify",
    "list what waits for you, or test the channels",
    _add_notify,
    """\
examples:
  spinney notify                        what waits for you, and what is new
  spinney notify --test                 a test notice on every channel that is set up
  spinney notify --test --channel ntfy

The exit code is 1 if a channel failed. docs/notices.md describes how to reach your phone.
""",
)


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


USAGE = CommandLine(
    "usage",
    "show what agents used: tokens and cost",
    _add_usage,
    """\
examples:
  spinney usage                             tokens and cost of each day
  spinney usage --by model --since 2026-11-01
  spinney usage --by session --csv          for a spreadsheet

Costs are list prices, as the agents report them; a subscription is not charged by them. ~ marks
those that are estimated, + those of which a part is unknown.
""",
)


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


EXPORT = CommandLine(
    "export",
    "export conversations as Markdown and JSON Lines",
    _add_export,
    """\
examples:
  spinney export talks
  spinney export --session parser > parser.md
  spinney export talks --from ~/.local/share/spinney/backups/spinney-20260101-120000.db

With FOLDER it writes one Markdown file per session, by project and worktree, and spinney.jsonl: one
JSON object per line for each project, worktree, session and message. Spinney may be running
meanwhile. Damaged parts are marked as unreadable.
""",
)


def _add_doctor(doctor: Parser) -> None:
    add_json(doctor)
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


DOCTOR = CommandLine(
    "doctor",
    "show what is installed, what is missing and how to fix it",
    _add_doctor,
    """\
Each line starts with `ok`, with `BAD` for a problem to fix, or with `·` for something optional.
The exit code is 1 if a line starts with BAD, otherwise 0.

Spinney backs its database up once a day and keeps seven backups. --repair rebuilds a damaged
database from what can be read of it and of the newest backup; --restore replaces it by a backup.
Both keep the previous file. Neither works while Spinney is running: run `spinney stop` first.
""",
)
