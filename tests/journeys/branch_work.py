"""What the second client and a person in a shell do with branches while a journey goes on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.journeys.client import RefusedError
from tests.journeys.harness import Harness
from tests.journeys.ledger import Conversation
from tests.journeys.setup import finish_script

MAX_WORKTREES: Final = 7
"""Number of worktrees from which on no more are added."""
METHODS: Final = ("merge", "squash", "rebase")
BRANCH_ACTIONS: Final = ("commit", "commit_to_base", "land", "take_back", "delete")
"""What else may happen to a branch at any time."""


class BranchWork:
    """Prepares branches for a landing, and lands or takes back at the same time."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        acts = (self._commit, self._commit_to_base, self._land, self._take_back, self._delete)
        self._actions: dict[str, Callable[[dict[str, Any]], None]] = dict(
            zip(BRANCH_ACTIONS, acts, strict=True)
        )

    def perform(self, action: str, conversation: Conversation) -> None:
        """Perform this action on the worktree of a session, if it is possible now."""
        try:
            self._actions[action](self.worktree_of(conversation))
        except RefusedError:
            pass  # The driven client may have landed or committed meanwhile.

    def worktree_of(self, conversation: Conversation) -> dict[str, Any]:
        """The worktree of a session."""
        worktree_id = conversation.session["worktree_id"]
        found: dict[str, Any] = self._harness.client.call("get_worktree", worktreeId=worktree_id)
        return found

    def project_of(self, worktree: dict[str, Any]) -> str:
        """The name of a worktree's project."""
        projects = self._harness.client.call("list_projects")
        found = next(each for each in projects if each["id"] == worktree["project_id"])
        return str(found["name"])

    def prepare(self, worktree: dict[str, Any], *, clashes: bool = False) -> str:
        """Commit everything in a worktree, and a new file; return its name."""
        project, folder = self.project_of(worktree), Path(worktree["path"])
        name = self._harness.repositories.commit(project, folder, clashes=clashes)
        # Git is polled. A desk that is read before would not have the commit yet.
        self._harness.client.call("fetch_worktrees_status", projectId=worktree["project_id"])
        return name

    def is_idle(self, worktree: dict[str, Any]) -> bool:
        """Whether no session in it is at work, and it is where it should be."""
        return (
            worktree["archived_at"] is None
            and worktree["status"] == "ready"
            and all(
                each.status == "idle" and not each.queued
                for each in self._harness.world.conversations.values()
                if each.session["worktree_id"] == worktree["id"]
            )
        )

    def add_worktree(self, project_id: str) -> dict[str, Any] | None:
        """Create a worktree without a session and commit in it, unless there are many already."""
        call = self._harness.client.call
        if len(call("list_worktrees", projectId=project_id)) >= MAX_WORKTREES:
            return None
        self._harness.ledger.expect("worktree:creating")
        name = self._harness.repositories.new_name()
        created: dict[str, Any] = call("create_worktree", projectId=project_id, customName=name)
        read = lambda: call("get_worktree", worktreeId=created["id"])  # noqa: E731
        self._harness.settle(lambda: "" if read()["status"] == "ready" else "not ready yet")
        self.prepare(created)
        return created

    def check(self, worktree: dict[str, Any], *, succeeds: bool) -> None:
        """Run the check script in a worktree to its end."""
        finish_script(self._harness.program, "check", succeeds=succeeds)
        call = self._harness.client.call
        call("run_worktree_script", worktreeId=worktree["id"], script="check")
        wanted = "passed" if succeeds else "failed"

        def find_problem() -> str:
            found = call("get_check_result", worktreeId=worktree["id"])
            is_over = found["status"] == wanted and not found.get("is_stale")
            return "" if is_over else f"the check has {found['status']}"

        self._harness.settle(find_problem)

    def preview(self, worktree: dict[str, Any]) -> dict[str, Any]:
        """What landing a worktree would do."""
        found: dict[str, Any] = self._harness.client.call(
            "preview_landing", worktreeId=worktree["id"]
        )
        return found

    def desk(self, worktree: dict[str, Any]) -> dict[str, Any]:
        """The landing desk of a worktree's project."""
        found: dict[str, Any] = self._harness.client.call(
            "get_landing_desk", projectId=worktree["project_id"]
        )
        return found

    def set_method(self, worktree: dict[str, Any], method: str) -> None:
        """Choose how the project's branches are brought in."""
        self._harness.client.call(
            "update_project_settings", projectId=worktree["project_id"], landingMethod=method
        )

    def _commit(self, worktree: dict[str, Any]) -> None:
        if worktree["archived_at"] is None and worktree["status"] == "ready":
            self.prepare(worktree)

    def _commit_to_base(self, worktree: dict[str, Any]) -> None:
        self._harness.repositories.commit_to_base(self.project_of(worktree))

    def _land(self, worktree: dict[str, Any]) -> None:
        preview = self.preview(worktree)
        self._harness.repositories.expect_moves(self.project_of(worktree))
        self._harness.client.call(
            "land_worktree",
            worktreeId=worktree["id"],
            baseCommit=preview["base_commit"],
            after="keep",
            ignoreCheck=True,
        )

    def _take_back(self, worktree: dict[str, Any]) -> None:
        landing_id = self.desk(worktree)["can_undo"]
        if landing_id is not None:
            self._harness.repositories.expect_moves(self.project_of(worktree))
            self._harness.client.call("undo_landing", landingId=landing_id)

    def _delete(self, worktree: dict[str, Any]) -> None:
        """Delete a worktree of its project that has no session."""
        used = {each.session["worktree_id"] for each in self._harness.world.conversations.values()}
        trees = self._harness.client.call("list_worktrees", projectId=worktree["project_id"])
        for each in trees:
            if each["id"] not in used and each["name"].startswith("fruit"):
                self._harness.ledger.expect("worktree:deleted")
                self._harness.client.call(
                    "sweep_worktrees", worktreeIds=[each["id"]], action="delete", force=True
                )
                return
