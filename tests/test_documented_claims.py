"""What the README and `docs/` refer to exists, and their figures match the code.

`test_documented_commands.py` tests command lines; `test_reference.py` tests the generated pages.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from model.backends.claude import program
from model.backends.codex import program as codex_program
from model.backends.opencode import program as opencode_program
from model.base import log
from model.chat import stall_monitor, tool_outputs
from model.cli import quick_call
from model.client.remote import BackOff
from model.hosting import log_end
from model.reviewing import material
from model.scripts import runner
from model.store import backups, bus, store
from server import engine
from server.lite import sign_in
from tests.program import ROOT
from tests.server.lite import test_reading
from tests.test_documented_commands import PAGES
from themes.loader import list_syntax_themes
from tui.terminal import capabilities, sequences

GENERATED: Final = ("commands.md", "contract.md", "events.md", "http.md", "preferences.md")
"""Pages that are generated from the code."""
WORDS: Final = {2: "two", 6: "six", 7: "seven", 10: "ten", 30: "thirty"}
GIB: Final = 1024**3
MIB: Final = 1024**2


def _version(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


FIGURES: Final = (
    ("README.md", f"all {len(list_syntax_themes())} themes"),
    ("README.md", f"(`claude` {_version(program.PROGRAM.min_version)} or newer)"),
    ("README.md", f"(`codex` {_version(codex_program.PROGRAM.min_version)} or newer)"),
    ("README.md", f"(`opencode` {_version(opencode_program.PROGRAM.min_version)} or newer)"),
    ("README.md", f"or the server runs; {WORDS[int(engine.IDLE_TIMEOUT / 60)]} minutes after"),
    ("SECURITY.md", f"at most {log.MAX_LINE_BYTES // 1000} kB"),
    ("SECURITY.md", f"It ends after {sign_in.SIGNED_IN // 3600} hours"),
    ("SECURITY.md", f"({sign_in.REMEMBERED // 86400} days if the browser is to remember)"),
    ("docs/cli.md", f"given up after {WORDS[int(quick_call.CONNECT_TIMEOUT)]} seconds"),
    ("docs/cli.md", f"the newest {bus.CAPACITY} events"),
    ("docs/recovery.md", f"{WORDS[backups.MAX_BACKUPS].capitalize()} are kept"),
    ("docs/recovery.md", f"within {backups.MAX_TOTAL_SIZE // GIB} GiB"),
    (
        "docs/terminal.md",
        f"It needs {capabilities.MIN_WIDTH}×{capabilities.MIN_HEIGHT} at least",
    ),
    ("docs/terminal.md", f"Below {capabilities.WIDE} columns"),
    ("docs/terminal.md", f"acts {sequences.ESCAPE_DELAY} seconds after it was pressed"),
    ("docs/terminal.md", f"over SSH {sequences.REMOTE_ESCAPE_DELAY}:"),
    ("docs/terminal.md", f"for {WORDS[int(sequences.SEQUENCE_DELAY)]} seconds"),
    (
        "docs/terminal.md",
        f"again after {BackOff().first:.0f} s, then at most every {BackOff().longest:.0f} s",
    ),
    ("docs/architecture.md", f"streamed text every {store.SAVE_INTERVAL * 1000:.0f} ms"),
    ("docs/architecture.md", f"else every {bus.WINDOW * 1000:.0f} ms"),
    (
        "docs/architecture.md",
        f"without a word for {WORDS[int(stall_monitor.FIRST_NOTICE / 60)]} minutes",
    ),
    ("docs/http.md", f"at most {tool_outputs.MAX_FILE_SIZE // MIB} MiB of one result"),
    ("docs/http.md", f"{tool_outputs.MAX_TOTAL_SIZE // GIB} GiB of all results"),
    ("docs/page.md", f"each page under {test_reading.MAX_PAGE_BYTES // 1000} KB"),
    ("docs/scripts.md", f"after {runner.TIME_LIMITS['setup'] // 60:.0f} minutes"),
    ("docs/landing.md", f"in up to {WORDS[material.MAX_PARTS]} parts"),
    ("docs/landing.md", f"its last {log_end.MAX_LINES} lines"),
)

ELSEWHERE: Final = {
    "OPENCODE_PERMISSION": "read by OpenCode",
    "MALLOC_ARENA_MAX": "read by the C library",
    "SPINNEY_ROOT_PATH": "composed in model/domain/worktree_variables.py",
    "SPINNEY_WORKSPACE_PATH": "composed in model/domain/worktree_variables.py",
    "SPINNEY_BRANCH": "composed in model/domain/worktree_variables.py",
    "SPINNEY_PORT_COUNT": "composed in model/domain/worktree_variables.py",
    "your_command": "a placeholder",
}
"""Names that occur in a page but not in the code."""
OWN: Final = {
    "SPINNEY_AGENT": "marks the processes of an agent",
    "SPINNEY_OWNER": "the same, for the Spinney that started it",
    "SPINNEY_SESSION": "the same, for its session",
    "SPINNEY_OPENCODE_WORKTREES": "for the plugin in OpenCode's server",
    "SPINNEY_FOREGROUND": "the process in front of the terminal, after a restart",
    "SPINNEY_LOCK": "the lock of the data directory, after a restart",
    "SPINNEY_RESTARTED_FROM": "the version before a restart",
    "SPINNEY_RESTARTED_WITHOUT_SCREEN": "whether a restarted Spinney had released its terminal",
    "SPINNEY_PORT": "for scripts and agents: docs/scripts.md",
}
"""Variables that Spinney sets itself."""


@cache
def pages() -> dict[str, str]:
    found = (path for pattern in PAGES for path in sorted(ROOT.glob(pattern)))
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in found}


def prose() -> Iterator[tuple[str, str]]:
    """The pages that are not generated, without their code blocks."""
    for name, text in pages().items():
        if Path(name).name not in GENERATED:
            yield name, re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def code_spans() -> Iterator[tuple[str, str]]:
    """Each inline code span with its page."""
    for name, text in prose():
        yield from ((name, each) for each in re.findall(r"`([^`\n]+)`", text))


@cache
def code() -> str:
    """The source of the program, its tests, benchmarks and generators."""
    folders = ("model", "server", "tui", "themes", "tests", "docs", "server/web")
    kinds = ("*.py", "*.js", "*.html")
    found = (path for folder in folders for kind in kinds for path in (ROOT / folder).rglob(kind))
    here = [path for path in found if path != Path(__file__)]
    return "\n".join(path.read_text() for path in [ROOT / "spinney.py", *here])


@pytest.mark.short
def test_every_link_points_to_a_file_and_a_heading() -> None:
    broken = []
    for name, text in pages().items():
        links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src(?:set)?="([^"]+)"', text)
        for link in links:
            file, _, anchor = link.partition("#")
            target = (ROOT / name).parent / file if file else ROOT / name
            if re.match(r"https?:", link):
                continue
            if not target.exists() or (anchor and anchor not in headings(target)):
                broken.append((name, link))
    assert broken == []


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.strip().lower()).replace(" ", "-") for each in found}


def test_every_file_that_is_named_exists() -> None:
    folders = r"(?:model|server|tui|themes|tests|docs|examples|\.ci)"
    paths = {
        (page, each)
        for page, each in code_spans()
        if re.fullmatch(rf"{folders}(?:/[\w.-]+)+/?", each)
    }
    assert len(paths) > 40
    assert [(page, each) for page, each in sorted(paths) if not (ROOT / each).exists()] == []


def test_every_name_and_variable_occurs_in_the_code() -> None:
    """Commands, preferences, fields, functions and environment variables."""
    names = {
        (page, word) for page, each in code_spans()
        for word in re.findall(r"(?<!/)\b(?:[a-z]+(?:_[a-z0-9]+)+|[A-Z]{2,}(?:_[A-Z]+)+)\b", each)
    }  # fmt: skip
    assert len(names) > 80
    unknown = {word for _, word in names if word not in code() and word not in ELSEWHERE}
    assert [each for each in sorted(names) if each[1] in unknown] == []
    assert ELSEWHERE.keys() - {word for _, word in names} == set()


def test_every_environment_variable_is_documented() -> None:
    folders = ("model", "server", "tui")
    paths = [
        ROOT / "spinney.py",
        *(path for folder in folders for path in (ROOT / folder).rglob("*.py")),
    ]
    found = (re.findall(r"\bSPINNEY_[A-Z]+(?:_[A-Z]+)*\b", path.read_text()) for path in paths)
    read = {each for names in found for each in names}
    table = pages()["docs/cli.md"]
    assert {each for each in read - OWN.keys() if f"`{each}" not in table} == set()


def test_every_quoted_label_occurs_in_the_code() -> None:
    shown = re.sub(r"\s+", " ", re.sub(r'"\s*\n\s*f?"', "", code()))
    quoted = {
        (page, " ".join(words.split()).rstrip(".,"))
        for page, text in prose() for words in re.findall("“([^”]+)”", text)
    }  # fmt: skip
    assert len(quoted) > 8
    assert [each for each in sorted(quoted) if each[1] not in shown] == []


def test_every_make_target_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = {each for text in pages().values() for each in re.findall(r"`?\bmake ([a-z-]+)`", text)}
    assert asked - targets == set()


@pytest.mark.parametrize(("page", "says"), FIGURES)
def test_each_figure_matches_the_code(page: str, says: str) -> None:
    assert says in " ".join(pages()[page].split())
