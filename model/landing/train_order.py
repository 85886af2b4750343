"""Suggest which worktrees can land together, and in which order."""

from collections.abc import Sequence

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.landing import LandingRow
from model.domain.worktrees import Worktree

_MAX_CARS = 20


def suggest_train(rows: Sequence[LandingRow]) -> list[str]:
    """Return the worktrees that could land now and do not conflict with one another.

    Those with the fewest conflicts come first, and each takes its partners out.
    """
    ready = [row for row in rows if _can_land(row)]
    partners = {row.worktree_id: {one.partner for one in row.conflicts} for row in ready}
    chosen: list[str] = []
    for row in sorted(ready, key=lambda row: (len(partners[row.worktree_id]), row.files)):
        if partners[row.worktree_id].isdisjoint(chosen):
            chosen.append(row.worktree_id)
    return chosen[:_MAX_CARS]


def _can_land(row: LandingRow) -> bool:
    """Whether nothing but a check or a review is missing."""
    is_red = row.check.status == "failed" and not row.check.is_stale
    in_conflict = any(one.with_kind == "branch" for one in row.conflicts)
    is_busy = row.next in ("answer", "wait")
    is_ready = row.ahead > 0 and not row.uncommitted and row.merged is None and not row.new_base
    return is_ready and not (is_red or in_conflict or is_busy)


def order_stacks(worktrees: Sequence[Worktree], default: str) -> tuple[list[Worktree], str]:
    """Return the worktrees of a train, each after the one that it starts from, and their base.

    Raises `conflict` if they would land in different branches.
    """
    below = {one.branch: one for one in worktrees}
    ordered: dict[str, Worktree] = {}
    for worktree in worktrees:
        stack = [worktree]
        while (under := below.get(stack[-1].base_branch or "")) and under not in stack:
            stack.append(under)
        ordered.update({one.id: one for one in reversed(stack)})
    bases = {one.base_branch or default for one in worktrees} - below.keys()
    if len(bases) != 1:
        names = ", ".join(sorted(f"'{clean_line(base)}'" for base in bases))
        raise SpinneyError(
            f"These worktrees have different base branches: {names}. A train has one.", "conflict"
        )
    return list(ordered.values()), bases.pop()
