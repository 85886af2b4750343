"""A program: the baseline of starting, a Textual application with nothing but a tree."""

from textual.app import App, ComposeResult
from textual.widgets import Tree

PROJECTS, WORKTREES, SESSIONS = 5, 3, 2


class BareTree(App[None]):
    """As many nodes as the Spinney that it stands beside."""

    def compose(self) -> ComposeResult:
        tree: Tree[None] = Tree("Projects")
        tree.root.expand()
        for project in range(PROJECTS):
            branch = tree.root.add(f"orchard-{project}", expand=True)
            for worktree in range(WORKTREES):
                twig = branch.add(f"worktree-{worktree}", expand=True)
                for session in range(SESSIONS):
                    twig.add_leaf(f"session-{session}")
        yield tree


if __name__ == "__main__":
    BareTree().run()
