"""Neutralize settings of a repository that name programs or files, for read-only git commands.

A repository that came as an archive, or that an agent worked in, can name a program for each file
that git compares (`filter.*.clean`), or a pipe for git to block on (`diff.orderFile`). Such
settings are replaced by the user's own setting of the same name, or by none. The user's own
settings stay in effect.
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
from model.base.git_layout import find_git_directories
from model.base.inherited import drop_variables
from model.base.text import clean_line

# Settings that git, or Git LFS run by git, executes while comparing files or while fetching a file
# that a partial clone lacks. Git prints names in lower case, except for their middle part.
_COMMAND_SETTINGS: Final = re.compile(
    r"filter\..*\.(?:clean|smudge|process|required)|lfs\.extension\..*\.(?:clean|smudge)"
    r"|lfs\.customtransfer\..*\.(?:path|args)|core\.(?:sshcommand|askpass|gitproxy)"
    r"|credential\.(?:.*\.)?helper",
    re.DOTALL,
)
# Git takes the first value of this setting, so it cannot be overridden. If a repository sets it,
# reads do not fetch files that a partial clone lacks.
_UPLOAD_PACK_SETTING: Final = re.compile(r"remote\..*\.uploadpack", re.DOTALL)
_NO_FETCH_OPTIONS: Final = tuple(
    argument
    for protocol in ("file", "git", "ssh", "http", "https")
    for argument in ("-c", f"protocol.{protocol}.allow=never")
)
_FILE_SETTINGS: Final = re.compile(
    r"core\.(?:excludesfile|attributesfile)|diff\.orderfile|mailmap\.file|blame\.ignorerevsfile"
)
_INCLUDE_SETTING: Final = re.compile(r"include(?:if\..*)?\.path", re.DOTALL)
_TEXT_MERGE: Final = "git merge-file --quiet %A %O %B"
_MAX_INCLUDE_DEPTH: Final = 10
"""Levels of nested includes, as in git."""
_TIMEOUT: Final = 10
_USER_SETTINGS_TTL: Final = 30.0
"""Seconds that the user's own settings are cached."""

_Settings = tuple[tuple[str, str], ...]


def build_overrides(cwd: Path) -> tuple[str, ...]:
    """Return the `-c` options that neutralize the unsafe settings of this repository.

    Reads files and, if they changed, runs git to list their settings: blocks.

    Raises:
        SpinneyError: A configuration file of the repository is not a regular file.
    """
    directories = find_git_directories(cwd)
    if directories is None:
        return ()
    options: list[str] = []
    for file in dict.fromkeys(
        (directories.common_dir / "config", directories.git_dir / "config.worktree")
    ):
        for name, value in _read_settings(file):
            if _COMMAND_SETTINGS.fullmatch(name):
                options += _override(name, "", *_user_values(name))
            elif _UPLOAD_PACK_SETTING.fullmatch(name):
                options += _NO_FETCH_OPTIONS
            elif _FILE_SETTINGS.fullmatch(name) and not _is_file(cwd / Path(value).expanduser()):
                options += _override(name, os.devnull)
    return tuple(options)


def disable_filters(cwd: Path) -> tuple[str, ...]:
    """Return the `-c` options that disable every filter, of the repository and of the user.

    Built-in conversions (line endings, `ident`) stay. Blocks and raises as `build_overrides`.
    """
    names = dict.fromkeys(name for name, _ in list_settings(cwd) if name.startswith("filter."))
    return tuple(option for name in names for option in _override(name, ""))


def replace_merge_drivers(cwd: Path) -> tuple[str, ...]:
    """Return the `-c` options by which git merges texts itself where a program is configured.

    Blocks and raises as `build_overrides`.
    """
    names = dict.fromkeys(
        name for name, _ in list_settings(cwd)
        if name.startswith("merge.") and name.endswith(".driver")
    )  # fmt: skip
    return tuple(option for name in names for option in _override(name, _TEXT_MERGE))


def drop_merge_drivers(cwd: Path) -> tuple[str, ...]:
    """Return the `-c` options by which only the user's own merge drivers run.

    Where the repository configures one, git merges texts itself. Blocks and raises as
    `build_overrides`.
    """
    directories = find_git_directories(cwd)
    files = (
        (directories.common_dir / "config", directories.git_dir / "config.worktree")
        if directories
        else ()
    )
    names = dict.fromkeys(
        name for file in dict.fromkeys(files) for name, _ in _read_settings(file)
        if name.startswith("merge.") and name.endswith(".driver")
    )  # fmt: skip
    return tuple(
        option for name in names for option in _override(name, _TEXT_MERGE, *_user_values(name))
    )


def list_settings(cwd: Path) -> Iterator[tuple[str, str]]:
    """Yield the user's settings and then the repository's own. Blocks and raises as above."""
    yield from _list_user_settings()
    directories = find_git_directories(cwd)
    if directories is not None:
        yield from _read_settings(directories.common_dir / "config")
        yield from _read_settings(directories.git_dir / "config.worktree")


def _override(name: str, *values: str) -> Iterator[str]:
    if "=" in name:
        raise SpinneyError(
            f"The repository's configuration contains '{clean_line(name)}', a name that only an "
            "attack would use. Remove it from .git/config, then try again.",
            "git_error",
        )
    for value in values:
        yield from ("-c", f"{name}={value}")


def _read_settings(file: Path, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the settings in a configuration file and in the files that it includes."""
    try:
        facts = file.stat()
    except OSError:
        return  # Git ignores a missing file as well.
    if not stat.S_ISREG(facts.st_mode):
        raise SpinneyError(
            f"The repository's configuration was not read: {clean_line(str(file))} is not a file. "
            "Check its .git/config.",
            "git_error",
        )
    for name, value in _read_file(file, facts.st_ctime_ns, facts.st_size, facts.st_ino):
        yield name, value
        if _INCLUDE_SETTING.fullmatch(name) and depth < _MAX_INCLUDE_DEPTH:
            yield from _read_settings(file.parent / Path(value).expanduser(), depth + 1)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


@lru_cache(maxsize=500)
def _read_file(file: Path, *_state: int) -> _Settings:
    """The settings of one file; `_state` is part of the cache key and changes with the file."""
    return _list_settings("--file", str(file))


_user_settings: tuple[float, _Settings] | None = None


def _user_values(name: str) -> Iterator[str]:
    return (value for known, value in _list_user_settings() if known == name)


def _list_user_settings() -> _Settings:
    """The settings in the user's and the system's configuration."""
    global _user_settings
    if _user_settings is None or time.monotonic() - _user_settings[0] > _USER_SETTINGS_TTL:
        _user_settings = time.monotonic(), _list_settings()
    return _user_settings[1]


def _list_settings(*options: str) -> _Settings:
    drop_variables()
    # Run in a directory outside any repository, so that git reads none of the untrusted settings.
    with subprocess.Popen(
        ["git", "config", *options, "--list", "-z"],
        cwd=Path(os.devnull).parent, env={**os.environ, "GIT_CEILING_DIRECTORIES": "/"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            output = process.communicate(timeout=_TIMEOUT)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise SpinneyError(
                f"git did not list its settings within {_TIMEOUT} seconds. "
                "Check whether the disk responds, then try again.",
                "timeout",
            ) from None
    fields = (os.fsdecode(field).partition("\n") for field in output.split(b"\0") if field)
    return tuple((name, value) for name, _, value in fields)
