"""All changes of a worktree since its branch left its base, as one patch that git can apply."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Final, Literal

from model.base.errors import SpinneyError
from model.git.diff import DIFF_ARGUMENTS, find_branch_range
from model.git.run import git

PatchForm = Literal["patch", "stat", "names"]

_OPTIONS: Final[dict[PatchForm, str]] = {
    "patch": "--binary",
    "stat": "--stat",
    "names": "--name-only",
}
_OF_PATCH: Final = ("--unified=", "--inter-hunk-context=")
_TIMEOUT: Final = 120
_MAX_BYTES: Final = 256_000_000


async def read_patch(path: Path, base: str, form: PatchForm) -> bytes:
    """Return the committed and uncommitted changes and the new files that are not ignored.

    Raises `SpinneyError`, also if it is larger than 256 MB.
    """
    before, _ = await find_branch_range(path, base)
    with tempfile.TemporaryDirectory(prefix="spinney-diff-") as folder:
        # New files are part of a diff once an index knows their names: not that of the worktree.
        index = Path(folder) / "index"
        known = path / (await git(path, "rev-parse", "--git-path", "index")).stdout
        if await asyncio.to_thread(known.is_file):
            await asyncio.to_thread(shutil.copyfile, known, index)
        environment = {"GIT_INDEX_FILE": str(index)}
        await git(
            path, "add", "--intent-to-add", "--", ":(top)",
            timeout=_TIMEOUT, environment=environment,
        )  # fmt: skip
        options: tuple[str, ...] = DIFF_ARGUMENTS[:-1]
        if form != "patch":  # Git would print the patch as well.
            options = tuple(each for each in options if not each.startswith(_OF_PATCH))
        result = await git(
            path, *options, _OPTIONS[form], DIFF_ARGUMENTS[-1], before, "--", ":(top)",
            timeout=_TIMEOUT, max_bytes=_MAX_BYTES, environment=environment,
        )  # fmt: skip
    if result.is_truncated:
        raise SpinneyError("The changes are larger than 256 MB. Use --stat or --name-only.")
    return result.raw_stdout
