"""The private names of Textual: each exists, and no other module uses one."""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import textual
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import TextArea
from textual.worker import Worker

import tui
from tests.program import ROOT
from tui.terminal import textual_internals
from tui.terminal.textual_internals import INTERNALS, Internal

INTERNALS_FILE = Path(textual_internals.__file__)
PACKAGES = ("tui", "themes")
LIBRARIES = ("textual", "rich")


GENERATED = {
    # What metaclasses write into every class; `_default_…` stands for a reactive's first value.
    "_abc_impl",
    "_computes", "_css_type_name", "_css_type_names", "_decorated_handlers", "_inherit_bindings",
    "_inherit_component_classes", "_inherit_css", "_merged_bindings", "_reactives",
}  # fmt: skip


async def create_instance(kind: type[Any]) -> Any:
    """An instance as in a running application."""
    app: App[None] = App()
    async with app.run_test():
        instances = {
            App: app,
            Screen: app.screen,
            Strip: Strip([]),
            TextArea: TextArea(),
            Worker: Worker(app, lambda: None),
        }
        return instances[kind] if kind in instances else LinuxDriver(app)


@pytest.mark.parametrize("internal", INTERNALS, ids=lambda internal: internal.where)
async def test_textual_has_each_name_that_is_used(internal: Internal) -> None:
    module, _, path = internal.where.partition(":")
    gone = (
        f"Textual {textual.__version__} has no {internal.where} any more, which {internal.reason}. "
        f"Find another way in {INTERNALS_FILE.name}, or bound Textual in pyproject.toml."
    )
    try:
        found: Any = importlib.import_module(module)
    except ImportError:
        pytest.fail(gone)
    for name in path.split("."):
        kind = name.removesuffix("()")
        assert hasattr(found, kind), gone
        found = getattr(found, kind)
        if kind != name:
            found = await create_instance(found)


def test_a_row_sets_every_slot_of_a_strip() -> None:
    listed = {i.where.rpartition(".")[2] for i in INTERNALS if i.where.startswith("textual.strip:")}
    assert set(Strip.__slots__) == listed, (
        f"A strip of Textual {textual.__version__} has other slots than "
        f"{INTERNALS_FILE.name} sets in `Row`."
    )


def test_a_screen_still_looks_its_compositor_up_by_name() -> None:
    assert "Compositor" in Screen.__init__.__code__.co_names, (
        f"A screen of Textual {textual.__version__} is not made with `textual.screen.Compositor`."
    )


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


def names_in(tree: ast.AST) -> Iterator[str]:
    """The private names that a module defines."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(ast.Name("self" | "cls"), name, ast.Store()):
                yield name


def private_names_of(library: str) -> set[str]:
    root = Path(importlib.import_module(library).__file__ or "").parent
    return {
        name
        for file in root.rglob("*.py")
        for name in names_in(ast.parse(file.read_text()))
        if is_private(name)
    }


@pytest.mark.longer
@pytest.mark.core
def test_no_other_module_uses_a_private_name() -> None:
    theirs = set().union(*map(private_names_of, LIBRARIES))
    found = []
    for file in (file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))):
        tree = ast.parse(file.read_text())
        ours = set(names_in(tree)) if file != INTERNALS_FILE else theirs
        for node in ast.walk(tree):
            match node:
                case ast.ImportFrom(module=str(module), names=names) if file != INTERNALS_FILE:
                    parts = [*module.split("."), *(name.name for name in names)]
                    is_used = parts[0] in LIBRARIES and any(map(is_private, parts))
                case ast.Attribute(attr=name):
                    is_used = is_private(name) and name in theirs and name not in ours
                case _:
                    is_used = False
            if is_used:
                found.append(f"{file.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert not found, "Private names of Textual or Rich:\n" + "\n".join(found)


def test_no_private_name_is_overridden_by_accident() -> None:
    taken = []
    for info in pkgutil.walk_packages(tui.__path__, "tui."):
        for kind in vars(importlib.import_module(info.name)).values():
            if not inspect.isclass(kind) or kind.__module__ != info.name:
                continue
            if kind.__module__ == textual_internals.__name__:
                continue
            libraries = [b for b in kind.__mro__ if b.__module__.partition(".")[0] in LIBRARIES]
            own = {
                n for n in vars(kind) if is_private(n) and not n.startswith("_default_")
            } - GENERATED
            taken += [
                f"{info.name}.{kind.__qualname__}.{name} hides {base.__name__}.{name}"
                for base in libraries
                for name in own & set(vars(base))
            ]
    assert not taken, "\n".join(taken)
