"""The commands that show, land, undo and clean up the work in worktrees."""

from model.cli.command_lines.shared import HERE, add_json, add_yes
from model.cli.command_parser import CommandLine, Parser, days


def _add_diff(diff: Parser) -> None:
    diff.add_argument(
        "place", nargs="?", metavar="WORKTREE | SESSION", help=f"its name or id; {HERE}"
    )
    what = diff.add_mutually_exclusive_group()
    what.add_argument("--stat", action="store_true", help="how many lines changed in each file")
    what.add_argument("--name-only", action="store_true", help="only the names of the files")
    diff.add_argument("--no-pager", action="store_true", help="print it at once")


DIFF = CommandLine(
    "diff",
    "show what a worktree changed",
    _add_diff,
    """\
examples:
  spinney diff                       all changes in this worktree since it left its base branch
  spinney diff parser --stat
  spinney diff parser > parser.patch

Committed changes, uncommitted ones and new files, compared with where the branch left its base. On
a terminal it is shown with colors in the pager of git; otherwise it is a patch for `git apply`.
""",
)


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
    land.add_argument(
        "--stash",
        action="store_true",
        help="stash uncommitted changes in the checkout of the base, and bring them back then",
    )
    land.add_argument(
        "--keep-going",
        action="store_true",
        help="a train leaves out what fails, and goes on; with --yes the rest lands",
    )
    what = land.add_mutually_exclusive_group()
    what.add_argument("--undo", action="store_true", help="take the newest landing back")
    what.add_argument(
        "--train",
        nargs="+",
        metavar="WORKTREE",
        help="bring several in, each on top of the one before, and check after each",
    )
    add_yes(land)
    add_json(land)


LAND = CommandLine(
    "land",
    "bring a worktree into its base branch",
    _add_land,
    """\
examples:
  spinney land                               the worktree of this directory, after a question
  spinney land parser --method squash --yes  without being asked
  spinney land --undo                        take the newest landing of this project back
  spinney land --train parser tail docs      several, each checked on top of those before
  spinney land --stash                       with changes in the checkout of main stashed for it

What would happen is shown first. The base branch moves beside all checkouts; one in which it is
checked out follows if it is clean. With --json, and without --yes, only the preview is printed, or
a train runs and does not land. A train lands with --yes only if every worktree is ready, unless
--keep-going leaves out what is not.
Exit code 1: refused, not confirmed, or not all landed.
""",
)


def _add_base(base: Parser) -> None:
    base.add_argument("branch", metavar="BRANCH", help="the branch that it is to land in")
    base.add_argument(
        "worktree",
        nargs="?",
        metavar="WORKTREE",
        help="its name, branch or the beginning of its id; by default the one of this directory",
    )
    base.add_argument("--move", action="store_true", help="move its commits onto that branch")
    add_json(base)


BASE = CommandLine(
    "base",
    "change the branch that a worktree lands in",
    _add_base,
    """\
examples:
  spinney base main                the worktree of this directory lands in main
  spinney base main parser --move  its commits that its present base lacks move onto main, too

When a branch lands, the worktrees that start from it are moved onto its base. One that could not be
(uncommitted changes, a conflict, a session at work) is moved with --move.
""",
)


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
    add_yes(undo)
    undo.add_argument("--redo", action="store_true", help="take an undo back")
    add_json(undo)


UNDO = CommandLine(
    "undo",
    "undo a turn of an agent: its changes, the conversation",
    _add_undo,
    """\
examples:
  spinney undo                     the newest turn in the worktree of this directory
  spinney undo Tests --turn 3      turn 3 of the session Tests, and the conversation since
  spinney undo --files --yes       only its changes to files, without being asked
  spinney undo --before src/a.py   take this file as it was before the turn
  spinney undo --redo              bring back what was undone

Changes that others made since stay. A file whose same lines were changed since needs --keep or
--before. With --json, and without --yes, only the preview is printed. Exit code 1: not confirmed.
""",
)


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
    add_yes(prune)
    add_json(prune)


PRUNE = CommandLine(
    "prune",
    "archive or delete worktrees no longer needed",
    _add_prune,
    """\
examples:
  spinney prune                            what would go, what stays and why; changes nothing
  spinney prune --delete                   delete those that are merged, after a question
  spinney prune --older-than 30 --archive  those not used for 30 days, merged or not
  spinney prune --project alpha --json     the list as JSON

A worktree with uncommitted files, commits that are nowhere else, worktrees or repositories inside
with such work, or a session at work always stays.
Without --merged and --older-than, those go that are merged. Each deleted worktree has a recovery
point: spinney recover.
""",
)


def _add_conflicts(conflicts: Parser) -> None:
    conflicts.add_argument(
        "project", nargs="?", metavar="PROJECT", help="the name of a project; by default all"
    )
    add_json(conflicts)


CONFLICTS = CommandLine(
    "conflicts",
    "list worktrees that are heading for a conflict",
    _add_conflicts,
    """\
examples:
  spinney conflicts        which worktrees changed the same places, committed or not
  spinney conflicts alpha  those of the project alpha
""",
)


def _add_why(why: Parser) -> None:
    why.add_argument("place", metavar="FILE:LINE", help="a file of a worktree, and a line")
    add_json(why)


WHY = CommandLine(
    "why",
    "explain why a line is there",
    _add_why,
    """\
examples:
  spinney why src/parse.py:120         the turn that wrote a line, its prompt and its plan
  spinney why --json src/parse.py:120  the same as JSON

The file is one of a worktree that Spinney knows. A line that is older than the worktree is
explained by its commit.
""",
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
    add_json(recover)


RECOVER = CommandLine(
    "recover",
    "bring deleted worktrees and lost files back",
    _add_recover,
    """\
examples:
  spinney recover                              list what was deleted or discarded
  spinney recover restore 3f2a91c0             bring a worktree back with its sessions
  spinney recover files 3f2a91c0               list the files of a recovery point
  spinney recover files 3f2a91c0 src/parse.py  bring a file back into its worktree

Recovery points are made before a worktree is deleted, and before uncommitted changes may be lost.
""",
)
