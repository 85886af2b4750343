"""The project's config file, `spinney.json`: its scripts, and the hashes by which they are trusted.

A script is trusted by the hash of its very text. Whatever changes it (a pull, a pull request, an
agent) takes the trust away, and only the new text can be trusted again.
"""

import hashlib
import json
import stat
from pathlib import Path
from typing import Any, Final, Literal, get_args

from model.base.errors import SpinneyError
from model.base.paths import write_atomically
from model.base.text import find_hidden, make_visible, show_returns
from model.domain.resources import Project, Resource
from model.git.run import git

ScriptName = Literal["setup", "run", "teardown"]

FILES: Final = ("spinney.json", "jean.json")
"""The second, of the same shape, counts where the first is not there."""

_SIZE_LIMIT: Final = 256 * 1024


class Script(Resource):
    """One script as it stands in a config file."""

    name: ScriptName
    text: str
    hash: str
    """What `trust_project_scripts` takes: trust in this text and no other."""
    shown: str = ""
    """The text with what it hides made visible, for people to read."""
    hidden: str | None = None
    """Why it cannot be trusted: the character that is not shown as it runs, and its line."""
    trusted: bool = False
    file: str = FILES[0]
    holds_messages: bool = False
    """Whether the first message of a session waits for it: `setup`, but for `wait_for_setup`."""


def fingerprint(name: ScriptName, text: str) -> str:
    """The hash of a script; the same text under another name is another script."""
    return hashlib.sha256(f"{name}\0{text}".encode(errors="surrogatepass")).hexdigest()


def scripts_in(directory: Path, project: Project) -> list[Script]:
    """The scripts of the config file in a working directory. Looks at the disk.

    Raises `SpinneyError` for a file that cannot be understood.
    """
    for name in FILES:
        path = directory / name
        try:
            found = path.lstat()
        except OSError:
            continue
        if not stat.S_ISREG(found.st_mode) or found.st_size > _SIZE_LIMIT:
            raise SpinneyError(
                f"{path} is not a config file: it must be a regular file, no link, and no larger "
                f"than {_SIZE_LIMIT // 1024} KiB."
            )
        return with_trust(_parsed(path.read_bytes(), str(path), name), project)
    return []


async def scripts_of_branch(root: Path, branch: str) -> list[Script]:
    """The scripts that are committed on a branch, or on its counterpart at `origin`.

    A file that cannot be understood has none.
    """
    for ref in (f"refs/heads/{branch}", f"refs/remotes/origin/{branch}"):
        for name in FILES:
            # A few kilobytes of a repository may be gigabytes of a file.
            blob = ("cat-file", "blob", f"{ref}:{name}")
            shown = await git(root, *blob, check=False, max_bytes=_SIZE_LIMIT)
            if shown.returncode == 0 and not shown.is_truncated:
                try:
                    return _parsed(shown.raw_stdout, name, name)
                except SpinneyError:
                    return []
    return []


def write_scripts(root: Path, texts: dict[ScriptName, str | None]) -> None:
    """Set (or, with `None`, take out) scripts in `spinney.json`; the rest of it stays."""
    path = root / FILES[0]
    given = next((root / name for name in FILES if (root / name).is_file()), None)
    content = _object(given.read_bytes(), str(given)) if given else {}
    known = content.get("scripts")
    scripts = {**(known if isinstance(known, dict) else {}), **texts}
    content["scripts"] = {name: text for name, text in scripts.items() if text is not None}
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    write_atomically(path, text.encode(), 0o644)


def with_trust(scripts: list[Script], project: Project) -> list[Script]:
    """The scripts, each with whether the project trusts it; never one that hides something."""
    trusted = set(project.trusted_scripts)
    return [
        script.model_copy(update={"trusted": script.hash in trusted and script.hidden is None})
        for script in scripts
    ]


def refuse_hidden(name: ScriptName, text: str) -> None:
    """Raise `SpinneyError` for a script that would run otherwise than it is shown."""
    if (hidden := find_hidden(text)) is not None:
        raise SpinneyError(
            f"The script '{name}' cannot be trusted: {hidden}, which hides what it does. "
            "Take the character out of the file.",
            "forbidden",
        )


def _parsed(raw: bytes, shown: str, file: str) -> list[Script]:
    content = _object(raw, shown)
    waits = content.get("wait_for_setup", True)
    if not isinstance(waits, bool):
        raise SpinneyError(f"{shown}: 'wait_for_setup' must be true or false.")
    scripts = content.get("scripts")
    if scripts is None:
        return []
    if not isinstance(scripts, dict):
        raise SpinneyError(f"{shown}: 'scripts' must be an object of texts.")
    found = []
    for name in get_args(ScriptName):
        text = scripts.get(name)
        if text is None or text == "":
            continue
        if not isinstance(text, str) or "\0" in text:
            raise SpinneyError(f"{shown}: the script '{name}' must be a text.")
        found.append(
            Script(
                name=name,
                text=text,
                hash=fingerprint(name, text),
                shown=make_visible(show_returns(text)),
                hidden=find_hidden(text),
                file=file,
                holds_messages=waits and name == "setup",
            )
        )
    return found


def _object(raw: bytes, shown: str) -> dict[str, Any]:
    try:
        content = json.loads(raw)
    except RecursionError:
        raise SpinneyError(f"{shown} is nested too deeply to be read.") from None
    except ValueError as error:
        raise SpinneyError(f"{shown} is not valid JSON: {error}") from None
    if not isinstance(content, dict):
        raise SpinneyError(f"{shown} must hold a JSON object.")
    return content
