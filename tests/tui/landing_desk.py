"""A fake client with worktrees in every state of landing, and builders of what it returns."""

from typing import Any

from model.api.changes import FileDiff
from model.api.landing import LandingMessage
from model.domain.conflicts import ConflictSummary
from model.domain.landing import (
    CheckResult,
    DeskPullRequest,
    Landing,
    LandingDesk,
    LandingPreview,
    LandingRow,
    ReviewProgress,
    Sweep,
    SweepRow,
    Swept,
    Train,
    TrainCar,
)
from tests.tui.builders import a_project, a_session, a_state, a_worktree, make_changes
from tests.tui.fake_client import FakeClient

NOW = 1_790_000_000.0
"""The time of `every_screen`."""
NAMES = ("brave-otter", "calm-heron", "quick-vole", "odd-mole", "late-lynx", "done-duck")


def a_check(status: str = "passed", **fields: Any) -> CheckResult:
    """A result of the `check` script."""
    given: dict[str, Any] = {"worktree_id": "w1", "status": status, "tree": "t"}
    if status in ("passed", "failed"):
        given |= {
            "started_at": NOW - 340,
            "ended_at": NOW - 300,
            "exit_code": int(status == "failed"),
        }
    return CheckResult(**{**given, **fields})


def a_row(number: int, step: str, reason: str, **fields: Any) -> LandingRow:
    """The row of the worktree `w<number>`."""
    name = NAMES[number - 1]
    given: dict[str, Any] = {"worktree_id": f"w{number}", "name": name, "branch": name}
    given |= {"base": "main", "files": 3, "added": 120, "removed": 14, "ahead": 2}
    given |= {"check": a_check(), "next": step, "reason": reason}
    return LandingRow(**{**given, **fields})


def some_rows() -> list[LandingRow]:
    """Six worktrees, each with another next step."""
    return [
        a_row(
            1, "land", "It can land in main.",
            review=ReviewProgress(hunks=7, accepted=7, files=3, viewed=3),
        ),
        a_row(
            2, "review", "6 of 23 changes not reviewed.", ahead=5, behind=1, files=9, added=412,
            review=ReviewProgress(hunks=23, accepted=17, files=9), check=a_check(is_stale=True),
        ),
        a_row(
            3, "resolve", "2 files have a conflict with main.", behind=4,
            conflicts=[
                ConflictSummary(partner="main", with_kind="branch", files=["parser.py", "tail.py"]),
                ConflictSummary(partner="w2", with_kind="worktree", files=["parser.py"]),
            ],
        ),
        a_row(4, "fix", "The check failed: exit code 1.", check=a_check("failed"), uncommitted=0),
        a_row(
            5, "wait", "Checks of pull request #12 are not finished.", branch="feature/late-lynx",
            pull_request=DeskPullRequest(
                number=12, url="https://example.org/12", phase="open", checks="running",
                unresolved=2,
            ),
        ),
        a_row(6, "archive", "main has the same changes.", merged="squash", check=a_check("none")),
    ]  # fmt: skip


def a_preview(**fields: Any) -> LandingPreview:
    """What landing `w1` would do."""
    given: dict[str, Any] = {"worktree_id": "w1", "base": "main", "base_commit": "0ac93e57" * 5}
    given |= {"head_commit": "4f1c2d9a" * 5, "method": "merge", "commits": 2, "files": 3}
    given |= {"added": 120, "removed": 14, "message": "Merge branch 'brave-otter'"}
    given |= {"check": a_check(), "checked_out_in": "/code/alpha", "after": "archive"}
    return LandingPreview(**{**given, **fields})


def a_landing(**fields: Any) -> Landing:
    """The landing of `w1`."""
    given: dict[str, Any] = {"id": "l1", "project_id": "p1", "worktree_ids": ["w1"]}
    given |= {"base": "main", "before": "0ac93e57" * 5, "after": "77aa11bb" * 5}
    return Landing(**{**given, "method": "merge", "landed_at": 1.0, **fields})


def a_car(number: int, status: str, **fields: Any) -> TrainCar:
    """The worktree `w<number>` in a train."""
    given: dict[str, Any] = {"worktree_id": f"w{number}", "branch": NAMES[number - 1]}
    return TrainCar(**{**given, "head_commit": "c" * 40, "status": status, **fields})


def a_train(*cars: TrainCar, **fields: Any) -> Train:
    """A train of these worktrees; by default one that the third of five has stopped."""
    stopped = (
        a_car(1, "ready", check="passed"),
        a_car(2, "ready", check="passed"),
        a_car(3, "failed", check="failed", error="The check ended with exit code 1."),
        a_car(4, "left_out"),
        a_car(5, "left_out"),
    )
    given: dict[str, Any] = {"id": "t1", "project_id": "p1", "base": "main"}
    given |= {"base_commit": "0ac93e57" * 5, "method": "merge", "with_check": True}
    given |= {"status": "stopped", "cars": list(cars or stopped), "started_at": 1.0}
    return Train(**{**given, **fields})


def a_sweep_row(number: int, **fields: Any) -> SweepRow:
    """The row of the worktree `w<number>` in the sweep."""
    name = NAMES[number - 1]
    given: dict[str, Any] = {"worktree_id": f"w{number}", "project_id": "p1", "name": name}
    return SweepRow(**{**given, "branch": name, "last_used_at": 1.0, **fields})


class FakeLanding:
    """A client of one project with six worktrees, each with a session."""

    def __init__(self) -> None:
        trees = [a_worktree(id=f"w{n}", name=x, branch=x) for n, x in enumerate(NAMES, 1)]
        sessions = [a_session(id=f"s{n}", worktree_id=f"w{n}") for n in range(1, len(NAMES) + 1)]
        self.client = FakeClient(a_state(a_project(), *trees, *sessions))
        self.rows = some_rows()
        self.train: Train | None = None
        self.can_undo: str | None = None
        self.preview = a_preview()
        self.sweep = [
            a_sweep_row(6, size=1_400_000_000, last_used_at=NOW - 9e5, merged="squash"),
            a_sweep_row(1, size=212_000_000, last_used_at=NOW - 4_000, uncommitted=2, unpushed=1),
            a_sweep_row(3, size=9_000_000, last_used_at=NOW - 70, unpushed=2, is_running=True),
        ]
        self.client.answers |= {
            "get_landing_desk": lambda given: LandingDesk(
                project_id="p1", rows=self.rows, suggested_train=["w2", "w1"],
                can_undo=self.can_undo,
            ),
            "list_changed_files": lambda given: make_changes("parser.py"),
            "get_file_diff": lambda given: FileDiff(
                path="parser.py", text="", digest="d", hunks=[]
            ),
            "get_train": lambda given: self.train,
            "preview_landing": lambda given: self.preview,
            "land_worktree": lambda given: a_landing(notes=["'brave-otter' was archived."]),
            "list_landings": lambda given: [a_landing()],
            "undo_landing": lambda given: a_landing(undone_at=2.0),
            "write_landing_text": lambda given: LandingMessage(message="Read the last row"),
            "write_landing_message": lambda given: LandingMessage(message="The check failed:\n1"),
            "get_git_remotes": lambda given: [],
            "start_train": lambda given: self._start(given),
            "land_train": lambda given: a_landing(worktree_ids=["w1", "w2"]),
            "get_train_output": lambda given: LandingMessage(message="..F\n1 failed"),
            "list_sweep": lambda given: Sweep(rows=self.sweep, free_bytes=52_000_000_000),
            "sweep_worktrees": lambda given: [
                Swept(worktree_id=key, ok=True, message="It was deleted.")
                for key in given["worktree_ids"]
            ],
        }  # fmt: skip

    def _start(self, given: dict[str, Any]) -> Train:
        cars = [a_car(int(key[1:]), "waiting") for key in given["worktree_ids"]]
        self.train = a_train(*cars, status="running", with_check=given.get("with_check", True))
        return self.train
