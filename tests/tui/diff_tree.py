"""A fake worktree with changes as git reports them, and helpers for its diff screen."""

from typing import Any

from textual.pilot import Pilot

from model.api.changes import ChangedFile, Changes, DiscardedFile, FileDiff
from model.api.code_reviews import ReviewState, ViewedFile
from model.domain.landing import ReviewProgress
from tests.tui.builders import a_changed_file, a_project, a_session, a_state, a_worktree
from tests.tui.fake_client import FakeClient
from tests.tui.waiting import until
from tui.diff.screen import Diff
from tui.shell.app import SpinneyApp
from tui.widgets.line import Line

PARSER = """\
diff --git a/parser.py b/parser.py
index 1..2 100644
--- a/parser.py
+++ b/parser.py
@@ -1,3 +1,3 @@ import sys
 import sys
-print(1)
+print(2)
 # end
@@ -20,2 +20,3 @@ def main():
 def main():
+    return 1
     pass
"""
PICTURE = """\
diff --git a/picture b/picture
new file mode 100644
Binary files /dev/null and b/picture differ
"""
RENAMED = """\
diff --git a/old b/new
old mode 100644
new mode 100755
similarity index 100%
rename from old
rename to new
"""


CONFLICT = """\
diff --git a/parser.py b/parser.py
--- a/parser.py
+++ b/parser.py
@@ -1,2 +1,5 @@
 import sys
+<<<<<<< HEAD
 print(1)
+=======
+print(2)
+>>>>>>> theirs
"""


class FakeWorktree:
    """A fake client and the changes of a worktree that it reports."""

    def __init__(self, **state: Any) -> None:
        self.files: dict[str, list[ChangedFile]] = {
            "unstaged": [
                a_changed_file("parser.py"),
                a_changed_file("picture", status="untracked", added=None, removed=0),
            ],
            "staged": [a_changed_file("new", status="renamed", old_path="old", added=0, removed=0)],
            "branch": [],
        }
        self.texts = {"parser.py": PARSER, "picture": PICTURE, "new": RENAMED}
        self.operation: str | None = None
        resources = [a_project(), a_worktree(), *state.get("sessions", [a_session()])]
        self.client = FakeClient(a_state(*resources))
        self.viewed: dict[tuple[str, str], str] = {}
        """The text with which files were marked as viewed, by path and side."""
        self.client.answers |= {
            "list_changed_files": self._list,
            "get_file_diff": self._diff,
            "get_review": self._review,
            "mark_viewed": self._mark_viewed,
        }
        for name in ("stage_changes", "unstage_changes"):
            self.client.answers[name] = lambda given: None
        self.client.answers["discard_changes"] = lambda given: DiscardedFile(
            id="d", path=given["path"]
        )

    def _list(self, given: dict[str, Any]) -> Changes:
        files = self.files[given.get("side", "unstaged")]
        return Changes(files=files, base="main", operation=self.operation)

    def _diff(self, given: dict[str, Any]) -> FileDiff:
        text = self.texts[given["path"]]
        names = [f"h{n}" for n in range(text.count("\n@@ "))]
        return FileDiff(path=given["path"], text=text, digest=str(hash(text)), hunks=names)

    def _review(self, given: dict[str, Any]) -> ReviewState:
        viewed = [
            ViewedFile(path=path, side=side)  # type: ignore[arg-type]
            for (path, side), text in self.viewed.items()
            if self.texts.get(path) == text
        ]
        return ReviewState(progress=ReviewProgress(), verdicts=[], viewed=viewed)

    def _mark_viewed(self, given: dict[str, Any]) -> None:
        key = given["path"], given["side"]
        self.viewed.pop(key, None)
        if given["viewed"]:
            self.viewed[key] = self.texts[given["path"]]


async def open_diff(app: SpinneyApp, pilot: "Pilot[None]") -> Diff:
    """Open the diff screen with its key, and wait until it shows the first file."""
    app.main.open_session("s1")
    await pilot.press("ctrl+g")
    await until(pilot, lambda: isinstance(app.screen, Diff) and app.screen.file_diff is not None)
    assert isinstance(app.screen, Diff)
    return app.screen


def lines(screen: Diff) -> list[str]:
    """The visible rows of the diff."""
    view = screen.view
    height = min(view.size.height, view.count or 2)
    return [view.render_line(y).text.rstrip() for y in range(height)]


def top_text(screen: Diff) -> str:
    """The title and the tabs."""
    return " ".join(line.text for line in screen.query("#top, #sides").results(Line))


async def go_to_files(pilot: "Pilot[None]", screen: Diff) -> None:
    """Focus the list of files."""
    await pilot.press("tab")
    await until(pilot, lambda: screen.is_in_files)
