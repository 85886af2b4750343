"""One `spinney serve` for the tests of a process: reset before each, restarted if that fails.

Starting the program takes longer than most tests that use it. A test gets a program of its own if
it requests the fixture `program`, serves it with other options, or is marked `own_program`.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest

from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.client.endpoint import find_endpoint
from tests.leaks import outliving_the_test
from tests.program import Program, Serving


@dataclass
class SharedProgram:
    """A served program that one test after another uses."""

    program: Program
    options: tuple[str, ...]
    _open: ExitStack = field(default_factory=ExitStack)
    _serving: Serving | None = None
    _preferences: dict[str, Any] = field(default_factory=dict)
    _given: set[str] = field(init=False)
    """Its files of settings before the first start."""

    def __post_init__(self) -> None:
        config = self.program.config
        self._given = {file.name for file in config.iterdir()} if config.exists() else set()

    def reset(self) -> Serving:
        """Return the program, started, without projects and with its initial preferences."""
        if self._serving is not None and not self._clear():
            self.stop()
            shutil.rmtree(self.program.data)
            self._remove_new_settings()
        if self._serving is None:
            with outliving_the_test():
                self._serving = self._open.enter_context(self.program.serving(*self.options))
            self._preferences = self.program.call("get_preferences")
        return self._serving

    def _remove_new_settings(self) -> None:
        for path in self.program.config.iterdir():
            if path.name in self._given:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()

    def stop(self) -> None:
        """Stop the program if it is running."""
        self._open.close()
        self._serving = None

    def _clear(self) -> bool:
        """Remove what the previous test created; False if that failed."""
        assert self._serving is not None
        if self._serving.process.poll() is not None:
            return False
        place = Directories(self.program.config, self.program.data, self.program.home)
        try:
            self._remove_projects()
            for point in self.program.call("list_recovery_points"):
                self.program.call("delete_recovery_point", f"recoveryId={point['recovery_id']}")
            # Removing a project keeps its folders; without them, names of worktrees are free again.
            shutil.rmtree(self.program.home / "spinney", ignore_errors=True)
            left = self.program.call("get_preferences")
            changes = {key: value for key, value in self._preferences.items() if left[key] != value}
            if changes:
                self.program.call_with("update_preferences", {"changes": changes})
            return find_endpoint(place) == (self._serving.base_url, self._serving.token)
        except (SpinneyError, aiohttp.ClientError, OSError):  # a new program starts clean
            return False

    def _remove_projects(self) -> None:
        items = self.program.call("list_projects")
        for project in (item for item in items if not item["is_folder"]):
            self._stop_sessions(project["id"])
            self.program.call("remove_project", f"projectId={project['id']}")
        folders = {item["id"]: item["parent_id"] for item in items if item["is_folder"]}
        while folders:
            for leaf in folders.keys() - set(folders.values()):
                self.program.call("delete_folder", f"folderId={leaf}")
                del folders[leaf]

    def _stop_sessions(self, project_id: str) -> None:
        """Stop running and waiting sessions: a project with active agents cannot be removed."""
        archived = {"includeArchived": True}
        listed = {"projectId": project_id, **archived}
        for worktree in self.program.call_with("list_worktrees", listed):
            listed = {"worktreeId": worktree["id"], **archived}
            for session in self.program.call_with("list_sessions", listed):
                if session["status"] in ("running", "waiting"):
                    self.program.call("stop_generation", f"sessionId={session['id']}")


@contextmanager
def share_program(program: Program, *options: str) -> Iterator[SharedProgram]:
    """Yield a shared program and stop it after the last test."""
    made = SharedProgram(program, options)
    try:
        yield made
    finally:
        made.stop()


def needs_own_program(request: pytest.FixtureRequest) -> bool:
    """Whether a test makes changes that cannot be reset, or prepares the program itself."""
    prepares = {"program", "fake_gh"} & set(request.fixturenames)
    return bool(prepares or request.node.get_closest_marker("own_program"))
