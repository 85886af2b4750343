"""Bring a branch into its base beside all checkouts: by a merge commit, squashed, or rebased.

Nothing is moved: the result is a commit that the base could be moved to.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.domain.hosting import MergeMethod
from model.git.run import git
from model.git.three_way import Author, Place, commit_tree, merge_commits

_MAX_REBASED: Final = 500
"""Commits; each takes three short processes."""
_FIELDS: Final = ("%H", "%P", "%T", "%an", "%ae", "%ad", "%B")


@dataclass(frozen=True, slots=True)
class Integration:
    """What came of bringing a branch in."""

    commit: str
    """The base's next commit; the base's own if the branch has nothing that it lacks; empty if
    there are conflicts."""
    conflicts: tuple[str, ...] = ()
    """Files."""


@dataclass(frozen=True, slots=True)
class _Commit:
    id: str
    parent: str
    """Empty for a first commit."""
    tree: str
    author: Author
    message: str


async def integrate(
    place: Place, base: str, head: str, method: MergeMethod, message: str
) -> Integration:
    """Bring the commit `head` into the commit `base`.

    Args:
        place: Where to merge.
        base: The base's commit.
        head: The branch's commit.
        method: `merge` always makes a merge commit; `rebase` of a branch that begins at the base
            moves the base to the branch, as git does.
        message: Of the merge or squash commit.

    Raises:
        SpinneyError: What git reports; also if a rebase would lose what merges in the branch
            resolved, or has too many commits.
    """
    if await is_ancestor(place, head, base):
        return Integration(base)
    if method == "rebase":
        return await _rebase(place, base, head)
    merged = await merge_commits(place, base, head)
    if merged.conflicts:
        return Integration("", merged.conflicts)
    parents = [base, head] if method == "merge" else [base]
    if method == "squash" and merged.tree == await read_tree(place, base):
        return Integration(base)
    return Integration(await commit_tree(place, merged.tree, parents, message))


async def is_ancestor(place: Place, commit: str, of: str) -> bool:
    """Whether a commit is another one, or came before it."""
    found = await git(
        place.root, "merge-base", "--is-ancestor", commit, of,
        check=False, environment=place.environment,
    )  # fmt: skip
    if found.returncode > 1:
        raise SpinneyError(found.message, "git_error")
    return found.returncode == 0


async def read_tree(place: Place, commit: str) -> str:
    """Return the id of a commit's tree."""
    found = await git(
        place.root, "rev-parse", "--verify", f"{commit}^{{tree}}", environment=place.environment
    )
    return found.stdout


async def _rebase(place: Place, base: str, head: str) -> Integration:
    """Copy the commits of a branch on top of the base; those that it has already are left out."""
    merges = await _count_merges(place, base, head)
    if not merges and await is_ancestor(place, base, head):
        return Integration(head)
    onto, tree = base, await read_tree(place, base)
    for commit in await _list_commits(place, base, head):
        applied = await _apply(place, commit, onto, tree)
        if isinstance(applied, tuple):
            return Integration("", applied)
        if applied != tree or not await _has_changes(place, commit):
            onto = await commit_tree(place, applied, [onto], commit.message, commit.author)
            tree = applied
    if merges:
        await _refuse_lost_resolutions(place, base, head, tree)
    return Integration(onto)


async def _apply(place: Place, commit: _Commit, onto: str, tree: str) -> str | tuple[str, ...]:
    """Return the tree with a commit's changes on top of `onto`, or the files in conflict."""
    if commit.parent and await read_tree(place, commit.parent) == tree:
        return commit.tree
    # So that the parent of the commit is what both sides have in common.
    unsigned = Place(place.root, place.folder, place.environment)
    parents = [commit.parent] if commit.parent else []
    ours = await commit_tree(unsigned, tree, parents, "Onto\n", commit.author)
    merged = await merge_commits(place, ours, commit.id)
    return merged.conflicts or merged.tree


async def _has_changes(place: Place, commit: _Commit) -> bool:
    return not commit.parent or await read_tree(place, commit.parent) != commit.tree


async def _refuse_lost_resolutions(place: Place, base: str, head: str, tree: str) -> None:
    """Raise if a rebase came to something else than a merge: merges are left out of it."""
    merged = await merge_commits(place, base, head)
    if merged.tree and merged.tree != tree:
        raise SpinneyError(
            "This branch contains merges with changes of their own, which a rebase would lose. "
            "Land it by merge or squash instead.",
            "conflict",
        )


async def _count_merges(place: Place, base: str, head: str) -> int:
    counted = await git(
        place.root, "rev-list", "--count", "--merges", head, "--not", base, "--",
        environment=place.environment,
    )  # fmt: skip
    return int(counted.stdout)


async def _list_commits(place: Place, base: str, head: str) -> list[_Commit]:
    """Return the commits of the branch that the base has not, oldest first, without merges."""
    listed = await git(
        place.root, "log", "--no-show-signature", "--reverse", "--topo-order", "--no-merges",
        "--right-only", "--cherry-pick", "--no-notes", "--encoding=UTF-8", "--date=raw",
        f"--max-count={_MAX_REBASED + 1}", f"--format={'%x00'.join(_FIELDS)}%x00",
        f"{base}...{head}", "--", environment=place.environment, timeout=120,
    )  # fmt: skip
    commits = list(_parse_commits(listed.raw_stdout.decode("utf-8", "replace")))
    if len(commits) > _MAX_REBASED:
        raise SpinneyError(
            f"This branch has more than {count(_MAX_REBASED, 'commit')}, too many to rebase here. "
            "Land it by merge or squash, or rebase it in a shell.",
            "conflict",
        )
    return commits


def _parse_commits(text: str) -> Iterator[_Commit]:
    fields = text.split("\0")
    for at in range(0, len(fields) - len(_FIELDS), len(_FIELDS)):
        sha, parents, tree, name, email, date, message = fields[at : at + len(_FIELDS)]
        parent = parents.split(" ")[0]
        yield _Commit(sha.lstrip("\n"), parent, tree, Author(name, email, date), message)
