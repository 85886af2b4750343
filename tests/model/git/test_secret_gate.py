"""Nothing commits or publishes past the gate for secrets."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import model
from model.git.secret_gate import SearchedText
from model.hosting.forge import Forge

COMMITS_OR_PUBLISHES = {"commit", "push", "--continue"}
"""Words of git commands; what only moves commits that were made elsewhere is not among them."""
EXCEPT = {
    ("git/remote_branches.py", "delete_remote_branch"): "publishes nothing",
    ("git/remotes.py", "_push"): "the end of push",
    ("git/stashes.py", "stash"): "stays in the repository: it is 'stash push'",
    ("demo.py", "_make_repository"): "commits its own text",
}
IDENTIFIERS = {
    "url", "base", "branch", "pull_request", "version", "method", "head_commit", "reviewers",
    "thread_id", "owners", "state", "kind", "item_id",
}  # fmt: skip
"""Parameters of a hosting service that are not texts of a person."""


def _find_functions() -> Iterator[tuple[str, ast.AsyncFunctionDef]]:
    root = Path(model.__file__).parent
    for file in root.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.AsyncFunctionDef):
                yield str(file.relative_to(root)), node


def _is_git_with_such_words(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in ("git", "_run", "_push")
        and any(
            isinstance(word, ast.Constant) and word.value in COMMITS_OR_PUBLISHES
            for word in node.args
        )
    )


@pytest.mark.longer
@pytest.mark.core
def test_whatever_commits_or_pushes_takes_a_gate() -> None:
    found = {
        (file, function.name): {argument.arg for argument in function.args.args}
        for file, function in _find_functions()
        if any(_is_git_with_such_words(node) for node in ast.walk(function))
    }
    without = {place for place, arguments in found.items() if "gate" not in arguments}
    assert without == EXCEPT.keys()
    assert ("git/commit.py", "commit") in found


def test_no_text_reaches_a_hosting_service_unsearched() -> None:
    texts = set()
    for name, method in inspect.getmembers(Forge, inspect.isfunction):
        for parameter in inspect.signature(method).parameters.values():
            if parameter.name in IDENTIFIERS or "str" not in str(parameter.annotation):
                continue
            texts.add((name, parameter.name))
    assert not texts, f"neither an identifier nor {SearchedText.__name__}"
