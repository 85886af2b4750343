"""Which tests stand behind which row of the interface, read from `tests/contract`."""

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model.commands.registry import COMMANDS
from model.events import EVENTS

TESTS: Final = Path(__file__).resolve().parents[1] / "tests" / "contract"


@dataclass(frozen=True, slots=True)
class Proof:
    """A test, the cases it is run for, and every text that stands in it."""

    name: str
    cases: tuple[str, ...]
    texts: frozenset[str]


def page() -> Iterator[str]:
    """The lines of the page."""
    found = {path: _proofs(path) for path in sorted(TESTS.glob("test_*.py"))}
    yield "# The interface and its tests"
    yield ""
    yield (
        "The tests of `tests/contract` by the commands and events that they name, then file by "
        "file. What goes through their `call` runs twice: in process, and over a WebSocket."
    )
    every = [proof for _, proofs in found.values() for proof in proofs]
    yield from _index("command", sorted(COMMANDS), every)
    yield from _index("event", sorted(EVENTS), every)
    for path, (about, proofs) in found.items():
        yield from ["", f"## {path.name}", "", about, "", "| test | for |", "| --- | --- |"]
        for proof in proofs:
            cases = ", ".join(f"`{case}`" for case in proof.cases).replace("|", "\\|")
            yield f"| `{proof.name}` | {cases} |"


def _index(kind: str, names: list[str], proofs: list[Proof]) -> Iterator[str]:
    """The tests in which these names stand; names that stand in none are left out."""
    yield from ["", f"## By {kind}", "", f"| {kind} | tests |", "| --- | --- |"]
    for name in names:
        tests = [f"`{proof.name}`" for proof in proofs if name in proof.texts]
        if tests:
            yield f"| `{name}` | {', '.join(tests)} |"


def _proofs(path: Path) -> tuple[str, list[Proof]]:
    """What the file says of itself, and its tests in their order."""
    module = importlib.import_module(f"tests.contract.{path.stem}")
    tests = [
        _proof(name, value)
        for name, value in vars(module).items()
        if name.startswith("test_") and inspect.isfunction(value)
    ]
    return inspect.getdoc(module) or "", tests


def _proof(name: str, test: Callable[..., Any]) -> Proof:
    cases = tuple(case for mark in getattr(test, "pytestmark", ()) for case in _cases(mark))
    source = ast.parse(textwrap.dedent(inspect.getsource(test)))
    texts = {node.value for node in ast.walk(source) if isinstance(node, ast.Constant)}
    words = {text for text in texts if isinstance(text, str)}
    return Proof(name, cases, frozenset({*words, *cases, *(c.split(" ")[0] for c in cases)}))


def _cases(mark: Any) -> Iterator[str]:
    """A parametrised test's cases by their ids, or else by the texts among their values."""
    if mark.name != "parametrize":
        return
    for number, value in enumerate(mark.args[1]):
        ids = mark.kwargs.get("ids")
        values = value if isinstance(value, tuple) else (value,)
        texts = " ".join(one for one in values if isinstance(one, str))
        yield ids[number] if ids else " ".join(ascii(texts)[1:-1].split()) or ascii(value)
