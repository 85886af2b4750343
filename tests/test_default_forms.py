"""Each command in its shortest forms, which name nothing, in every kind of directory."""

import io
import json
import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import spinney
from model.cli.command_lines.all import COMMAND_LINES
from tests.program import Program

FORMS = {
    "ls": ["", "--json", "--archived"],
    "status": ["", "--json", ".", ". --json"],
    "sessions": ["", "--json"],
    "new": ["", "--json", "'/demo say x' --worktree .", "'/demo say x' --json"],
    "send": ["", "--json", "'/demo say x' --json", "--json '/demo say x'", "-", ". /demo"],
    "wait": ["", "--json", "--any"],
    "logs": ["", "--json", "-n 1"],
    "approve": ["", "--json", "--yes", "--json --yes"],
    "deny": ["", "--json"],
    "answer": ["", ".", ". --json", ". yes"],
    "diff": ["", "--stat", "--name-only"],
    "share": ["", "--json", "--project . --json"],
    "guests": ["", "--json", "--log", "--log --json", "--revoke Guest --json"],
    "resume-command": ["", "--json"],
    "base": ["", "main", "main . --json", "nowhere --json"],
    "land": ["", "--json", "--yes", "--undo", "--undo --json", "--undo --yes", "--train ."],
    "undo": ["", "--json", "--files", "--yes", "--redo", "--yes --json", "--redo --json",
             "--turn 1", "--conversation --yes", ". --redo", "--before a.txt", "--keep a.txt"],
    "prune": ["", "--json", "--archive", "--archive --json", "--delete --yes --json",
              "--project ."],
    "conflicts": ["", "--json", "."],
    "notify": ["", "--json", "--test", "--test --json"],
    "why": ["", "a.txt:1", "a.txt:1 --json"],
    "usage": ["", "--json", "--csv"],
    "recover": ["", "--json", "restore", "files", "files --json"],
    "export": ["", "exported", "--session .", "--session . --json"],
    "service": ["", "--json", "--print"],
    "url": ["", "--json", "--no-token"],
    "qr": [""],
    "token": [""],
    "call": ["", "list_projects", "add_project path=."],
    "events": ["--since x", "--only nothing"],
    "schema": [""],
    "doctor": ["", "--json"],
    "completion": ["", "bash"],
    "open": [""],
    "demo": [""],
    "attach": [""],
    "serve": ["", "--json"],
    "stop": ["--session", "--session .", "x"],
}  # fmt: skip
PLACES = ("one", "two", "checkout", "outside", "gone")
"""A worktree with a session, one with two, a project's own checkout, a folder that is nowhere, and
one that was deleted under the shell.
"""


@dataclass(frozen=True)
class Ran:
    form: str
    code: int
    out: str
    errors: str

    def is_sound(self) -> bool:
        """Whether it did what it was asked, or said why not; with `--json` as JSON."""
        if "went wrong inside Spinney" in self.errors or (self.code and not self.errors):
            return self.code == 1 and self.form in ("doctor", "doctor --json", "notify --test")
        if "--json" not in self.form.split():
            return True
        lines = [] if not self.out else [self.out]
        if self.form.startswith(("logs", "export")):
            lines = self.out.splitlines()
        lines += self.errors.splitlines() if self.code and not self.out else []
        return bool(lines or self.form.startswith("logs")) and all(map(is_json, lines))


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path | Program]]:
    program = Program(tmp_path_factory.mktemp("forms"))
    config = "[user]\n\tname = Ada\n\temail = ada@example.org\n"
    (program.home / ".gitconfig").write_text(config)
    checkout = program.make_repository("checkout")
    words = ("--mode", "build", "--wait", "--json")
    with program.serving("--demo"):
        program.call("add_project", f"path={checkout}")
        found: dict[str, Path | Program] = {"checkout": checkout, "outside": program.cwd}
        for name in ("one", "two"):
            task = ("new", "/demo write a.txt: 1", "--project", "checkout", "--name", name, *words)
            found[name] = Path(json.loads(program.run(*task).stdout)["worktree"]["path"])
        program.run("new", "/demo write b.txt: 1", "--worktree", "two", *words)
        yield {**found, "gone": program.place / "gone", "program": program}


@pytest.mark.few(1)
@pytest.mark.parametrize("place", PLACES)
def test_a_command_that_names_nothing_does_it_or_says_why_not(
    places: dict[str, Path],
    place: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program, directory = places["program"], places[place]
    assert isinstance(program, Program)
    for name in os.environ:
        monkeypatch.delenv(name)
    for name, value in program.environ.items():
        monkeypatch.setenv(name, value)
    directory.mkdir(exist_ok=True)
    monkeypatch.chdir(directory)
    if place == "gone":
        directory.rmdir()
    unsound = []
    for form in (f"{name} {rest}".strip() for name, forms in FORMS.items() for rest in forms):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        try:
            code = spinney.main(shlex.split(form))
        except SystemExit as ended:
            code = int(ended.code or 0)
        ran = Ran(form, code, *capsys.readouterr())
        unsound += [] if ran.is_sound() else [ran]
    assert unsound == []


def test_every_command_has_its_forms() -> None:
    assert {line.name for line in COMMAND_LINES} == FORMS.keys()
