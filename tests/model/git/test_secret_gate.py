"""Nothing commits or publishes past the gate for secrets."""

import ast
import inspect
import re
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
WRITING_WORDS = {"POST", "PUT", "PATCH", "DELETE", "create"}
"""Words of requests to a hosting service that change something there."""
WRITING = {
    "github/acting.py: _merge_now": "",
    "github/acting.py: cancel_auto_merge": "",
    "github/acting.py: edit": "title, body",
    "github/acting.py: merge": "",
    "github/acting.py: request_review": "",
    "github/acting.py: set_draft": "",
    "github/acting.py: update_branch": "",
    "github/pull_requests.py: open_pull_request": "title, body",
    "github/repositories.py: delete_branch": "",
    "github/threads.py: reply_to_thread": "text",
    "github/threads.py: resolve_thread": "",
    "gitlab/discussions.py: reply": "text",
    "gitlab/discussions.py: resolve": "",
    "gitlab/glab.py: query_graphql": "",
    "gitlab/merge_requests.py: _change": "",
    "gitlab/merge_requests.py: _request_again": "",
    "gitlab/merge_requests.py: delete_branch": "",
    "gitlab/merge_requests.py: edit": "title, body",
    "gitlab/merge_requests.py: open_merge_request": "title, body",
    "gitlab/merge_requests.py: request_review": "",
    "gitlab/merge_requests.py: set_draft": "",
    "gitlab/merging.py: cancel_auto_merge": "",
    "gitlab/merging.py: merge": "",
    "gitlab/merging.py: update_branch": "",
    "linear.py: _query": "",
}
"""All functions in `model/hosting` that change something at a service, and the texts that they
send: those that were searched. None of the others has a text of a person or an agent.
"""


ROOT = Path(model.__file__).parent


def _find_functions() -> Iterator[tuple[str, ast.AsyncFunctionDef]]:
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.AsyncFunctionDef):
                yield str(file.relative_to(ROOT)), node


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


def _find_mutations(file: Path) -> set[str]:
    """The names of a module's GraphQL mutations."""
    return {
        ast.unparse(node.target)
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.AnnAssign) and node.value and "mutation" in ast.unparse(node.value)
    }


def _writes(function: ast.AST, mutations: set[str]) -> bool:
    return any(
        getattr(node, "value", "") in WRITING_WORDS
        or getattr(node, "id", "") in mutations
        or getattr(node, "attr", "") == "post"
        or getattr(node, "id", "") == "_change"
        for node in ast.walk(function)
    )


def test_every_function_that_writes_to_a_service_takes_searched_texts() -> None:
    found = {}
    for file, function in _find_functions():
        if file.startswith("hosting/") and _writes(function, _find_mutations(ROOT / file)):
            texts = [
                argument.arg
                for argument in function.args.args
                if argument.annotation and SearchedText.__name__ in ast.unparse(argument.annotation)
            ]
            found[f"{file.removeprefix('hosting/')}: {function.name}"] = ", ".join(texts)
    assert found == WRITING


def test_only_the_gate_says_that_a_text_was_searched() -> None:
    calls = {
        file.relative_to(ROOT).as_posix()
        for file in ROOT.rglob("*.py")
        if re.search(rf"{SearchedText.__name__}[(\"']", file.read_text())
    }
    assert calls == {"git/secret_gate.py"}


def test_no_text_reaches_a_hosting_service_unsearched() -> None:
    texts = set()
    for name, method in inspect.getmembers(Forge, inspect.isfunction):
        for parameter in inspect.signature(method).parameters.values():
            if parameter.name in IDENTIFIERS or "str" not in str(parameter.annotation):
                continue
            texts.add((name, parameter.name))
    assert not texts, f"neither an identifier nor {SearchedText.__name__}"
