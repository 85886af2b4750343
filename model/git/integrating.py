"""Bring a branch into its base beside all checkouts: by a merge commit, squashed, or rebased.

Nothing is moved: the result is a commit that the base could be moved to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.domain.hosting import MergeMethod
from model.git.run import git
from model.git.three_way import Author, Merge, Place, commit_tree, merge_commits

_MAX_REBASED: Final = 500
"""Commits; each takes three short processes."""
_MAX_LISTED: Final = 2000
"""Commits of a branch, also merges and those whose changes its base has."""
_FIELDS: Final = ("%m", "%H", "%P", "%T", "%an", "%ae", "%ad", "%B")


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
    is_merge: bool
    is_in_base: bool
    """Whether a commit of the base makes the same changes."""


async def integrate(
    place: Place, base: str, head: str, method: MergeMethod, message: str, since: str = ""
) -> Integration:
    """Bring the commit `head` into the commit `base`.

    Args:
        place: Where to merge.
        base: The base's commit.
        head: The branch's commit.
        method: `merge` always makes a merge commit; `rebase` of a branch that begins at the base
            moves the base to the branch, as git does.
        message: Of the merge or squash commit.
        since: A commit of the branch whose changes the base has already, maybe as another commit;
            what both have in common if not given.

    Raises:
        SpinneyError: What git reports; also if a rebase would lose what merges in the branch
            resolved, or has too many commits.
    """
    if method == "rebase":
        return await _rebase(place, base, head, since)
    if await is_ancestor(place, head, base):
        return Integration(base)
    merged = await _merge(place, base, head, since)
    if merged.conflicts:
        return Integration("", merged.conflicts)
    parents = [base, head] if method == "merge" else [base]
    if method == "squash" and [merged.tree] == await _read_trees(place, [base]):
        return Integration(base)
    return Integration(await commit_tree(place, merged.tree, parents, message))


async def _merge(place: Place, base: str, head: str, since: str) -> Merge:
    """Merge `head` into `base`, which has what the branch had at `since`, if that is given."""
    if since and not await is_ancestor(place, since, base):
        (tree,) = await _read_trees(place, [base])
        base = await graft(place, tree, since)
    return await merge_commits(place, base, head)


async def graft(place: Place, tree: str, parent: str, author: Author | None = None) -> str:
    """Return a commit with a tree and a parent, so that this is what a merge has in common."""
    unsigned = Place(place.root, place.folder, place.environment)
    return await commit_tree(unsigned, tree, [parent] if parent else [], "Onto\n", author)


async def is_ancestor(place: Place, commit: str, of: str) -> bool:
    """Whether a commit is another one, or came before it."""
    found = await git(
        place.root, "merge-base", "--is-ancestor", commit, of,
        check=False, environment=place.environment,
    )  # fmt: skip
    if found.returncode > 1:
        raise SpinneyError(found.message, "git_error")
    return found.returncode == 0


async def read_tree(root: Path, commit: str) -> str:
    """Return the id of a commit's tree."""
    (tree,) = await _read_trees(Place(root, root), [commit])
    return tree


async def _read_trees(place: Place, commits: Sequence[str]) -> list[str]:
    """Return the ids of the trees of some commits."""
    names = [f"{commit}^{{tree}}" for commit in commits]
    found = await git(place.root, "rev-parse", *names, environment=place.environment)
    return found.stdout.split()


async def _rebase(place: Place, base: str, head: str, since: str) -> Integration:
    """Copy the commits of a branch on top of the base; those that it has already are left out."""
    own = await _list_commits(place, since or base, head)
    if not own:
        return Integration(base)
    plain = [commit for commit in own if not commit.is_merge]
    if len(plain) == len(own) and await _begins_at(place, own, base, head):
        return Integration(head)
    new = [commit for commit in plain if not commit.is_in_base]
    _refuse_what_cannot_be_copied(own, new)
    befores = list(dict.fromkeys([base, *(one.parent for one in new if one.parent)]))
    trees = dict(zip(befores, await _read_trees(place, befores), strict=True))
    listed = {commit.id for commit in own}
    onto, tree = base, trees[base]
    for commit in new:
        before = trees.get(commit.parent, "")
        is_first = not since and onto == base and commit.parent not in listed
        applied = await _apply(place, commit, onto, tree, before, is_first=is_first)
        if isinstance(applied, tuple):
            return Integration("", applied)
        if applied != tree or before == commit.tree:
            onto = await commit_tree(place, applied, [onto], commit.message, commit.author)
            tree = applied
    if len(plain) < len(own):
        await _refuse_lost_resolutions(place, base, head, since, tree)
    return Integration(onto)


def _refuse_what_cannot_be_copied(own: Sequence[_Commit], new: Sequence[_Commit]) -> None:
    """Raise if `own`, the branch's commits, or `new`, those to copy, are too many or anonymous."""
    for found, most in ((own, _MAX_LISTED), (new, _MAX_REBASED)):
        if len(found) > most:
            raise SpinneyError(
                f"This branch has more than {count(most, 'commit')}, too many to rebase here. "
                "Land it by merge or squash, or rebase it in a shell.",
                "conflict",
            )
    for commit in new:
        if not commit.author.name.strip():
            raise SpinneyError(
                f"Commit {commit.id[:10]} has no author name, so it cannot be rebased here. "
                "Land the branch by merge or squash, or rebase it in a shell.",
                "conflict",
            )


async def _begins_at(place: Place, own: Sequence[_Commit], base: str, head: str) -> bool:
    """Whether a branch without merges begins at the base; `own` are its newest commits."""
    if len(own) <= _MAX_LISTED:
        return own[0].parent == base
    return await is_ancestor(place, base, head)


async def _apply(
    place: Place, commit: _Commit, onto: str, tree: str, before: str, *, is_first: bool
) -> str | tuple[str, ...]:
    """Return the tree with a commit's changes on top of `onto`, or the files in conflict.

    Args:
        place: Where to merge.
        commit: The commit.
        onto: The commit that it comes on top of.
        tree: The tree of `onto`.
        before: The tree of the commit's parent; empty for a first commit.
        is_first: Whether `onto` is the base itself, which has the commit's parent.
    """
    if before == tree:
        return commit.tree
    ours = onto
    if not (is_first and commit.parent):
        ours = await graft(place, tree, commit.parent, commit.author)
    merged = await merge_commits(place, ours, commit.id)
    return merged.conflicts or merged.tree


async def _refuse_lost_resolutions(
    place: Place, base: str, head: str, since: str, tree: str
) -> None:
    """Raise if a rebase came to something else than a merge: merges are left out of it."""
    merged = await _merge(place, base, head, since)
    if merged.tree and merged.tree != tree:
        raise SpinneyError(
            "This branch contains merges with changes of their own, which a rebase would lose. "
            "Land it by merge or squash instead.",
            "conflict",
        )


async def _list_commits(place: Place, base: str, head: str) -> list[_Commit]:
    """Return the commits of the branch that the base has not, oldest first."""
    listed = await git(
        place.root, "log", "--no-show-signature", "--reverse", "--topo-order",
        "--right-only", "--cherry-mark", "--no-notes", "--encoding=UTF-8", "--date=raw",
        f"--max-count={_MAX_LISTED + 1}", f"--format={'%x00'.join(_FIELDS)}%x00",
        f"{base}...{head}", "--", environment=place.environment, timeout=120,
    )  # fmt: skip
    # Bytes in no known encoding are kept: git reads them as Latin-1 in what it commits.
    return list(_parse_commits(listed.raw_stdout.decode("utf-8", "surrogateescape")))


def _parse_commits(text: str) -> Iterator[_Commit]:
    fields = text.split("\0")
    for at in range(0, len(fields) - len(_FIELDS), len(_FIELDS)):
        mark, sha, parents, tree, name, email, date, message = fields[at : at + len(_FIELDS)]
        parent, *others = parents.split(" ")
        author = Author(name, email, date)
        is_in_base = mark.lstrip("\n") == "="
        yield _Commit(sha, parent, tree, author, message, bool(others), is_in_base)
