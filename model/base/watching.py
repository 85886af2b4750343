"""Watches folders for changed files, with one kind of error where that is not possible."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path


async def watch_folders(
    folders: set[Path],
    is_relevant: Callable[[str], bool],
    *,
    step_ms: int,
    debounce_ms: int,
    timeout_ms: int,
    recursive: bool,
) -> AsyncGenerator[list[Path]]:
    """Yield the relevant files that changed, or an empty list after a timeout without any.

    Args:
        folders: Existing folders.
        is_relevant: Called with the path of each file that changed.
        step_ms: Changes that follow each other within this time are yielded together.
        debounce_ms: Changes are yielded after this time at the latest.
        timeout_ms: Time without changes until an empty list is yielded.
        recursive: Whether folders below are watched as well.

    Raises:
        OSError: The system has no watches left (Linux permits a user 128 watchers, those of all
            programs together), or a folder was removed.
    """
    # They take 30 ms to import, off the startup path.
    from watchfiles import awatch
    from watchfiles._rust_notify import WatchfilesRustInternalError  # exported nowhere else

    watching = awatch(
        *folders,
        watch_filter=lambda _, path: is_relevant(path),
        debounce=debounce_ms,
        step=step_ms,
        rust_timeout=timeout_ms,
        yield_on_timeout=True,
        recursive=recursive,
        ignore_permission_denied=True,
    )
    try:
        async with aclosing(watching):
            async for changes in watching:
                yield [Path(path) for _, path in changes]
    except WatchfilesRustInternalError as error:  # what it has no type for, as a `RuntimeError`
        raise OSError(str(error)) from error
