"""Which tests stand behind which row of the interface, read from `tests/contract`."""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from docs.rows import SECTIONS, Rows

TESTS: Final = Path(__file__).resolve().parents[1] / "tests" / "contract"


@dataclass(frozen=True, slots=True)
class Proof:
    """A test, the cases it is run for, and every text that stands in it."""

    name: str
    cases: tuple[str, ...]
    texts: frozenset[str]

    def is_named(self, pattern: str) -> bool:
        """Whether this fits the name, alone or with one of the cases in brackets."""
        names = (self.name, *(f"{self.name}[{case}]" for case in self.cases))
        return any(re.search(pattern, name) for name in names)


def page() -> Iterator[str]:
    """The lines of the page."""
    found = _found()
    yield "# The interface and its tests"
    yield ""
    yield (
        "The tests of `tests/contract`, by the rows of the interface and then file by file. They "
        "ask a `spinney serve` that was started for them, over real sockets, with real "
        "repositories and bare remotes on the disk, the demo agent, and a scripted `gh`. What goes "
        "through their `call` runs twice: on the served program over its WebSocket, and in "
        "process. The exception is `test_two_clients.py`, which keeps model and server in the "
        "test's own process."
    )
    for section, rows in SECTIONS.items():
        yield from ["", f"## {section}", "", "| row | tests |", "| --- | --- |"]
        for row, tests in _tests_of(rows, found).items():
            yield f"| `{row}` | {', '.join(f'`{test}`' for test in tests)} |"
    for path, (about, proofs) in found.items():
        yield from ["", f"## {path.name}", "", about, "", "| test | for |", "| --- | --- |"]
        for proof in proofs:
            cases = ", ".join(f"`{case}`" for case in proof.cases).replace("|", "\\|")
            yield f"| `{proof.name}` | {cases} |"


def without_a_test() -> list[str]:
    """The rows of the interface that no test stands behind."""
    found = _found()
    return [
        f"{section}: {row}"
        for section, rows in SECTIONS.items()
        for row, tests in _tests_of(rows, found).items()
        if not tests
    ]


def _found() -> dict[Path, tuple[str, list[Proof]]]:
    return {path: _proofs(path) for path in sorted(TESTS.glob("test_*.py"))}


def _tests_of(rows: Rows, found: dict[Path, tuple[str, list[Proof]]]) -> dict[str, list[str]]:
    """The tests that are named after each row, or else those in which its very word stands."""
    proofs = [proof for _, proofs in found.values() for proof in proofs]
    return {
        row: [proof.name for proof in proofs if proof.is_named(pattern)]
        or [proof.name for proof in proofs if row in proof.texts]
        for row, pattern in rows.items()
    }


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
    cases = [case for mark in getattr(test, "pytestmark", ()) for case in _cases(mark)]
    cases += [_case(row) for row in getattr(test, "rows", ())]
    source = ast.parse(textwrap.dedent(inspect.getsource(test)))
    texts = {node.value for node in ast.walk(source) if isinstance(node, ast.Constant)}
    words = {text for text in texts if isinstance(text, str)}
    return Proof(name, tuple(cases), frozenset({*words, *cases, *(c.split(" ")[0] for c in cases)}))


def _cases(mark: Any) -> Iterator[str]:
    """A parametrised test's cases by their ids, or else by the texts among their values."""
    if mark.name != "parametrize":
        return
    for number, value in enumerate(mark.args[1]):
        ids = mark.kwargs.get("ids")
        yield ids[number] if ids else _case(value)


def _case(value: Any) -> str:
    values = value if isinstance(value, tuple) else (value,)
    texts = " ".join(one for one in values if isinstance(one, str))
    return " ".join(ascii(texts)[1:-1].split()) or ascii(value)
