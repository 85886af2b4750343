"""The project's config file, `spinney.json`: its scripts, and the hashes of trusted scripts.

A script is trusted by the hash of its exact text. Any change (by a pull, a pull request, an agent)
revokes the trust until the new text is trusted.
"""

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any, Final, get_args

from model.base.errors import SpinneyError
from model.base.paths import write_atomically
from model.base.text import find_hidden, make_visible, show_carriage_returns
from model.domain.projects import Project
from model.domain.scripts import Script, ScriptName
from model.git.run import git

FILES: Final = ("spinney.json", "jean.json")
"""The second file has the same format and is used if the first does not exist."""

_SIZE_LIMIT: Final = 256 * 1024


def find_config_name(directory: Path) -> str:
    """Return the name of a directory's config file, or of the one to create. Blocks."""
    return next((name for name in FILES if os.path.lexists(directory / name)), FILES[0])


def hash_script(name: ScriptName, text: str) -> str:
    """Return the hash of a script; the same text under another name has a different hash."""
    return hashlib.sha256(f"{name}\0{text}".encode(errors="surrogatepass")).hexdigest()


def read_scripts(directory: Path, project: Project) -> list[Script]:
    """Return the scripts of the config file in a working directory. Reads the file system.

    Raises `SpinneyError` for an invalid file.
    """
    for name in FILES:
        path = directory / name
        try:
            found = path.lstat()
        except OSError:
            continue
        if not stat.S_ISREG(found.st_mode) or found.st_size > _SIZE_LIMIT:
            raise SpinneyError(
                f"{path} is not a valid config file: it must be a regular file, not a link, and "
                f"not larger than {_SIZE_LIMIT // 1024} KiB."
            )
        return mark_trusted(_parse(path.read_bytes(), str(path), name), project)
    return []


def read_trusted_script(
    directory: Path, project: Project, name: ScriptName, place: str
) -> Script | None:
    """Return a script that may run in a working directory; `None` if it does not exist.

    `place` names the directory for a person. Reads the file system. Raises `SpinneyError` for an
    invalid file, and `forbidden` for a script that is not trusted.
    """
    found = read_scripts(directory, project)
    script = next((script for script in found if script.name == name), None)
    if script is not None and script.hidden is not None:
        refuse_hidden(name, script.text)
    if script is not None and not script.trusted:
        raise SpinneyError(
            f"The script '{name}' in {script.file} of {place} is not the one that"
            " was trusted, so it did not run. Read it, then trust it if you agree ('Scripts',"
            " or the commands get_project_scripts and trust_project_scripts).",
            "forbidden",
        )
    return script


async def read_branch_scripts(root: Path, branch: str) -> list[Script]:
    """Return the scripts committed on a branch, or on its counterpart on `origin`.

    Returns an empty list for an invalid file.
    """
    for ref in (f"refs/heads/{branch}", f"refs/remotes/origin/{branch}"):
        try:
            found = await read_commit_scripts(root, ref)
        except SpinneyError:
            return []
        if found is not None:
            return found
    return []


async def read_commit_scripts(root: Path, commit: str) -> list[Script] | None:
    """Return the scripts of the config file in a commit; `None` if there is no file.

    `commit` is its id or a full ref. Raises `SpinneyError` for an invalid file.
    """
    for name in FILES:
        # A few kilobytes in a repository may unpack to a file of gigabytes.
        blob = ("cat-file", "blob", f"{commit}:{name}")
        result = await git(root, *blob, check=False, max_bytes=_SIZE_LIMIT)
        if result.is_truncated:
            raise SpinneyError(f"{name} must not be larger than {_SIZE_LIMIT // 1024} KiB.")
        if result.returncode == 0:
            return _parse(result.raw_stdout, name, name)
    return None


def write_scripts(root: Path, texts: dict[ScriptName, str | None]) -> None:
    """Set scripts in `spinney.json`, or remove those that are `None`; other keys are kept."""
    path = root / FILES[0]
    existing = next((root / name for name in FILES if (root / name).is_file()), None)
    content = _parse_object(existing.read_bytes(), str(existing)) if existing else {}
    current = content.get("scripts")
    scripts = {**(current if isinstance(current, dict) else {}), **texts}
    content["scripts"] = {name: text for name, text in scripts.items() if text is not None}
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    write_atomically(path, text.encode(), 0o644)


def mark_trusted(scripts: list[Script], project: Project) -> list[Script]:
    """Return the scripts with `trusted` set; scripts with hidden characters are never trusted."""
    trusted = set(project.trusted_scripts)
    return [
        script.model_copy(update={"trusted": script.hash in trusted and script.hidden is None})
        for script in scripts
    ]


def refuse_hidden(name: ScriptName, text: str) -> None:
    """Raise `SpinneyError` for a script that contains hidden characters."""
    if (hidden := find_hidden(text)) is not None:
        raise SpinneyError(
            f"The script '{name}' cannot be trusted: {hidden}, which hides what it does. "
            "Remove the character from the file.",
            "forbidden",
        )


def _parse(raw: bytes, label: str, file: str) -> list[Script]:
    content = _parse_object(raw, label)
    waits = content.get("wait_for_setup", True)
    if not isinstance(waits, bool):
        raise SpinneyError(f"{label}: 'wait_for_setup' must be true or false.")
    scripts = content.get("scripts")
    if scripts is None:
        return []
    if not isinstance(scripts, dict):
        raise SpinneyError(f"{label}: 'scripts' must be an object of strings.")
    found = []
    for name in get_args(ScriptName):
        text = scripts.get(name)
        if text is None or text == "":
            continue
        if not isinstance(text, str) or "\0" in text:
            raise SpinneyError(f"{label}: the script '{name}' must be a string.")
        found.append(
            Script(
                name=name,
                text=text,
                hash=hash_script(name, text),
                shown=make_visible(show_carriage_returns(text)),
                hidden=find_hidden(text),
                file=file,
                holds_messages=waits and name == "setup",
            )
        )
    return found


def _parse_object(raw: bytes, label: str) -> dict[str, Any]:
    try:
        content = json.loads(raw)
    except RecursionError:
        raise SpinneyError(f"{label} is nested too deeply to be read.") from None
    except ValueError as error:
        raise SpinneyError(f"{label} is not valid JSON: {error}") from None
    if not isinstance(content, dict):
        raise SpinneyError(f"{label} must contain a JSON object.")
    return content
