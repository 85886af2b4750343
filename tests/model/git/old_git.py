"""Simulates an older git: a script runs the installed one but refuses newer options."""

from collections.abc import Callable

INTRODUCED: tuple[tuple[tuple[int, int], str, str], ...] = (
    ((2, 28), "init", "--initial-branch"),
    ((2, 30), "rev-parse", "--end-of-options"),
    ((2, 30), "diff", "--merge-base"),
    ((2, 31), "rev-parse", "--path-format"),
    ((2, 31), "ls-files", "--deduplicate"),
    ((2, 33), "worktree add", "--reason"),
    ((2, 35), "stash", "--staged"),
    ((2, 36), "worktree list", "-z"),
    ((2, 38), "ls-files", "--format"),
    ((2, 38), "merge-tree", "--write-tree"),
    ((2, 39), "merge-tree", "--stdin"),
    ((2, 41), "fetch", "--porcelain"),
    ((2, 41), "for-each-ref", "--format=*%(ahead-behind"),
    ((2, 41), "for-each-ref", "--format=*%(is-base"),
    ((2, 42), "for-each-ref", "--exclude"),
    ((2, 42), "worktree add", "--orphan"),
    ((2, 43), "reset", "--end-of-options"),
    ((2, 43), "checkout", "--end-of-options"),
    ((2, 46), "config", "get"),
)
"""The git version that introduced an argument of a subcommand, from git's release notes."""


def install_old_git(install: Callable[[str], None], version: str) -> None:
    """Put a git of this version on the PATH; `install` is the fixture `fake_git`."""
    major, minor = map(int, version.split(".")[:2])
    refused = "\n".join(
        f'" {command} "*" {argument}"*) echo "error: unknown option {argument}" >&2; exit 129;;'
        for since, command, argument in INTRODUCED
        if (major, minor) < since
    )
    # Git lists locks since 2.31.
    quiet = r"locked\|prunable" if (major, minor) < (2, 31) else "$^"
    install(f"""
words=; skip=
for word do
  if [ "$skip" ]; then skip=; continue; fi
  case "$word" in -C|-c) skip=1;; --git-dir=*) ;; *) words="$words $word";; esac
done
case "$words " in
" --version "*) echo git version {version}; exit;;
{refused}
" worktree list "*" -z "*) ;;
" worktree list "*) "$real_git" "$@" | grep -v '^\\({quiet}\\)'; exit;;
esac
exec "$real_git" "$@"
""")
