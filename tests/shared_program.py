"""One `spinney serve` for the tests of a module: emptied before each, restarted if that fails.

Starting the program takes longer than most tests that talk to it. A test gets a program of its own
where it asks for the fixture `program`, serves it with other options, or is marked `own_program`.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.program import Program, Serving


@dataclass
class SharedProgram:
    """A served program that is handed to one test after another."""

    program: Program
    options: tuple[str, ...]
    _open: ExitStack = field(default_factory=ExitStack)
    _serving: Serving | None = None
    _preferences: dict[str, Any] = field(default_factory=dict)

    def emptied(self) -> Serving:
        """The program without projects, with the preferences that it began with."""
        if self._serving is not None and not self._reset():
            self.stop()
            for place in (self.program.data, self.program.config):
                shutil.rmtree(place)
        if self._serving is None:
            self._serving = self._open.enter_context(self.program.serving(*self.options))
            self._preferences = self.program.call("get_preferences")
        return self._serving

    def stop(self) -> None:
        """End the program, if it runs."""
        self._open.close()
        self._serving = None

    def _reset(self) -> bool:
        """Take away what the last test left; whether that was possible."""
        assert self._serving is not None
        if self._serving.process.poll() is not None:
            return False
        try:
            self._remove_projects()
            # What a removed project leaves, so that names of worktrees are free again.
            shutil.rmtree(self.program.home / "spinney", ignore_errors=True)
            left = self.program.call("get_preferences")
            changes = {key: value for key, value in self._preferences.items() if left[key] != value}
            if changes:
                self.program.call_with("update_preferences", {"changes": changes})
        except Exception:  # Whatever it says: a new one starts clean.
            return False
        return True

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
        """Stop what works or waits, as a project is not removed under an agent."""
        archived = {"includeArchived": True}
        listed = {"projectId": project_id, **archived}
        for worktree in self.program.call_with("list_worktrees", listed):
            listed = {"worktreeId": worktree["id"], **archived}
            for session in self.program.call_with("list_sessions", listed):
                if session["status"] in ("running", "waiting"):
                    self.program.call("stop_generation", f"sessionId={session['id']}")


@contextmanager
def shared(program: Program, *options: str) -> Iterator[SharedProgram]:
    """A shared program, ended with its last test."""
    made = SharedProgram(program, options)
    try:
        yield made
    finally:
        made.stop()


def wants_its_own(request: pytest.FixtureRequest) -> bool:
    """Whether a test changes what no reset brings back, or prepares what is served."""
    prepares = {"program", "fake_gh"} & set(request.fixturenames)
    return bool(prepares or request.node.get_closest_marker("own_program"))
