"""Where reading commands read from: the running Spinney, else what one has saved."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from model.base.instance import find_running_instance
from model.base.paths import resolve_directories
from model.base.standard_streams import write_error
from model.cli.quick_call import Connection, connect_here

if TYPE_CHECKING:
    from model.cli.saved_data import SavedData


@contextmanager
def open_source() -> "Iterator[Connection | SavedData]":
    """Yield a source to read from; says so on stderr if no Spinney is running.

    Raises `SpinneyError` if there is none.
    """
    paths = resolve_directories()
    if find_running_instance(paths.lock) is None and paths.database.is_file():
        from model.cli.saved_data import SavedData  # It needs the database's library.

        write_error("spinney: No Spinney is running here; this is what was saved last.\n")
        yield SavedData(paths.database)
        return
    with connect_here() as connection:
        yield connection
