"""What a repository's own settings name is neither run nor opened by a mere look.

A repository that came as an archive, or that an agent was in, can name a program for each file
that git compares (`filter.*.clean`), and a pipe for git to wait at (`diff.orderFile`). Such
settings give way to the person's own of the same name, or to none. What stands in the person's own
settings serves as ever.
"""

import os
import re
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.git_layout import git_directories
from model.base.text import clean_line

# What git, or Git LFS when git runs it, takes for a command while it compares files or, in a
# partial clone, fetches one that it lacks. Git tells names in small letters, but for their middle.
_COMMANDS: Final = re.compile(
    r"filter\..*\.(?:clean|smudge|process|required)|lfs\.extension\..*\.(?:clean|smudge)"
    r"|lfs\.customtransfer\..*\.(?:path|args)|core\.(?:sshcommand|askpass|gitproxy)"
    r"|credential\.(?:.*\.)?helper",
    re.DOTALL,
)
# Of this one git takes the first that it meets, so nothing can override it. Where it stands, a look
# fetches no file that a partial clone lacks.
_ON_FETCHING: Final = re.compile(r"remote\..*\.uploadpack", re.DOTALL)
_NOT_FETCHING: Final = tuple(
    word
    for protocol in ("file", "git", "ssh", "http", "https")
    for word in ("-c", f"protocol.{protocol}.allow=never")
)
_FILES: Final = re.compile(
    r"core\.(?:excludesfile|attributesfile)|diff\.orderfile|mailmap\.file|blame\.ignorerevsfile"
)
_INCLUDED: Final = re.compile(r"include(?:if\..*)?\.path", re.DOTALL)
_DEEPEST: Final = 10
"""How often one file of settings leads to another, as in git."""
_TIMEOUT: Final = 10
_OWN_GOOD_FOR: Final = 30.0
"""Seconds that a reading of the person's own settings serves."""

_Settings = tuple[tuple[str, str], ...]


def overrides(cwd: Path) -> tuple[str, ...]:
    """The options by which git looks at this repository without what only its settings name.

    Reads files and, where they changed, asks git what stands in them: blocks.

    Raises:
        SpinneyError: its settings are, or lead to, something that is no file.
    """
    places = git_directories(cwd)
    if places is None:
        return ()
    options: list[str] = []
    for file in dict.fromkeys((places.common / "config", places.own / "config.worktree")):
        for name, value in _settings_in(file):
            if _COMMANDS.fullmatch(name):
                options += _given(name, "", *_own(name))
            elif _ON_FETCHING.fullmatch(name):
                options += _NOT_FETCHING
            elif _FILES.fullmatch(name) and not _is_file(cwd / Path(value).expanduser()):
                options += _given(name, os.devnull)
    return tuple(options)


def _given(name: str, *values: str) -> Iterator[str]:
    if "=" in name:
        raise SpinneyError(
            f"The repository's settings hold “{clean_line(name)}”, which nobody means well by. "
            "Take it out of its .git/config, then try again.",
            "git_error",
        )
    for value in values:
        yield from ("-c", f"{name}={value}")


def _settings_in(file: Path, depth: int = 0) -> Iterator[tuple[str, str]]:
    """What stands in a file of settings and in those that it includes."""
    try:
        facts = file.stat()
    except OSError:
        return  # Git goes without it, too.
    if not stat.S_ISREG(facts.st_mode):
        raise SpinneyError(
            f"The repository's settings are not read: {clean_line(str(file))} is no file. "
            "Look into its .git/config.",
            "git_error",
        )
    for name, value in _listed(file, facts.st_ctime_ns, facts.st_size, facts.st_ino):
        yield name, value
        if _INCLUDED.fullmatch(name) and depth < _DEEPEST:
            yield from _settings_in(file.parent / Path(value).expanduser(), depth + 1)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


@lru_cache(maxsize=500)
def _listed(file: Path, *_state: int) -> _Settings:
    """The file's own settings; `_state` is another when it has changed."""
    return _told("--file", str(file))


_own_settings: tuple[float, _Settings] | None = None


def _own(name: str) -> Iterator[str]:
    """What the person's settings and the machine's say of it."""
    global _own_settings
    if _own_settings is None or time.monotonic() - _own_settings[0] > _OWN_GOOD_FOR:
        _own_settings = time.monotonic(), _told()
    return (value for known, value in _own_settings[1] if known == name)


def _told(*options: str) -> _Settings:
    # From a place that is in no repository, so that git itself reads none of the settings in doubt.
    with subprocess.Popen(
        ["git", "config", *options, "--list", "-z"],
        cwd=Path(os.devnull).parent, env={**os.environ, "GIT_CEILING_DIRECTORIES": "/"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as asked:  # fmt: skip
        try:
            listed = asked.communicate(timeout=_TIMEOUT)[0]
        except subprocess.TimeoutExpired:
            os.killpg(asked.pid, signal.SIGKILL)
            raise SpinneyError(
                f"git did not tell its settings within {_TIMEOUT} seconds. "
                "Look whether the disk answers, then try again.",
                "timeout",
            ) from None
    fields = (os.fsdecode(field).partition("\n") for field in listed.split(b"\0") if field)
    return tuple((name, value) for name, _, value in fields)
