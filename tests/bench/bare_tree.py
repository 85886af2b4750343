"""A program: the baseline of starting, a Textual application with tree, text area and footer."""

from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer, Static, TextArea, Tree

PROJECTS, WORKTREES, SESSIONS = 2, 3, 4

MESSAGES = 30
"""Messages of the session that was open last, here as lines."""


class BareTree(App[None]):
    """As many nodes as in the measured Spinney, and a screen of text."""

    def compose(self) -> ComposeResult:
        tree: Tree[None] = Tree("Projects")
        tree.root.expand()
        for project in range(PROJECTS):
            branch = tree.root.add(f"orchard-{project}", expand=True)
            for worktree in range(WORKTREES):
                twig = branch.add(f"worktree-{worktree}", expand=True)
                for session in range(SESSIONS):
                    twig.add_leaf(f"session-{session}")
        with Horizontal():
            yield tree
            with Vertical():
                yield Static("\n".join(f"(mark {number})" for number in range(MESSAGES)))
                yield TextArea()
        yield Footer()


if __name__ == "__main__":
    BareTree().run()
