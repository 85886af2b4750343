"""Every command line that the README and the pages of `docs/` name is one that works.

Each stands in `WAYS` with how it is tried here; one that is new in a page, or gone from all of
them, fails until it is put there or taken out. One Spinney serves them all.
"""

import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from model.agents.catalog import load_overrides
from model.cli.parser import read_command_line
from tests.patience import PATIENCE
from tests.program import ROOT, Program, next_line

PAGES = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "examples/README.md", "docs/*.md")


@dataclass(frozen=True)
class Way:
    """How a documented command line is tried."""

    instead: str = ""
    """What is typed in its place: what stands for something in the page is filled in."""
    code: int = 0
    prints: str = ""
    """What the output has."""
    read_only: str = ""
    """Why it is only read here, as the command line reads it, and which tests run it."""


TERMINAL = "it opens a terminal; tests/test_outliving.py and tests/terminal do that"
SERVES = "it serves until it is ended; this module's server and tests/test_command_line.py do that"

WAYS = {
    "spinney": Way(read_only=TERMINAL),
    "spinney open": Way(read_only=TERMINAL),
    "spinney demo": Way(read_only=TERMINAL),
    "spinney --plain": Way(read_only=TERMINAL),
    "spinney [PATH]": Way("spinney .", read_only=TERMINAL),
    "spinney attach [URL]": Way("spinney attach", read_only=TERMINAL),
    "spinney attach URL": Way("spinney attach http://127.0.0.1:1", read_only=TERMINAL),
    "spinney attach http://devbox:3456": Way(read_only=TERMINAL),
    "spinney serve": Way(read_only=SERVES),
    "spinney serve --demo": Way(read_only=SERVES),
    "spinney serve --json": Way(read_only=SERVES),
    "spinney doctor --repair": Way(read_only="what it repairs is damaged by its own tests"),
    "spinney doctor --restore": Way(read_only="what it restores is damaged by its own tests"),
    "spinney export FOLDER": Way("spinney export {place}/exported"),
    "spinney COMMAND --help": Way("spinney call --help", prints="usage: spinney call"),
    "spinney --help": Way(prints="exit codes:"),
    "spinney --version": Way(prints="spinney "),
    "spinney doctor": Way(code=1, prints="git"),  # 1: the Program of this test has no agent.
    "spinney doctor --json": Way(code=1, prints='"id": "backend_a"'),
    "spinney schema": Way(prints='"format": "path"'),
    "spinney completion SHELL": Way("spinney completion bash", prints="_spinney_call"),
    'eval "$(spinney completion bash)"': Way("spinney completion bash", prints="complete -o"),
    'eval "$(spinney completion zsh)"': Way("spinney completion zsh", prints="bashcompinit"),
    "spinney completion fish > ~/.config/fish/completions/spinney.fish": Way(
        "spinney completion fish", prints="complete -c spinney"
    ),
    "spinney call": Way(prints="create_worktree"),
    "spinney call NAME": Way("spinney call list_projects", prints="["),
    "spinney call NAME …": Way("spinney call list_projects", prints="["),
    "spinney call your_command": Way("spinney call list_projects", prints="["),
    "spinney call list_projects": Way(prints="["),
    "spinney call list_agents": Way(prints='"models"'),
    "spinney call list_models backend=backend_b": Way(prints="["),
    "spinney call create_worktree --help": Way(prints="customName"),
    "spinney call add_project path=.": Way(prints='"alpha"'),
    "spinney call regenerate_http_token": Way(prints='"'),
    "spinney call send_chat_message sessionId=… "
    'message="Find out why the parser drops the last row."':
        Way(code=4),  # There is no such session.
    "spinney call get_raw_log sessionId=ID": Way(code=4),  # There is no such session.
    "spinney events": Way(),
    "spinney events --since 4711": Way(),
    "spinney stop": Way(read_only="it would end this server; tests/test_outliving.py does that"),
}  # fmt: skip


def documented() -> Iterator[tuple[str, str]]:
    """Every command line with the page that it stands in."""
    for path in (one for pattern in PAGES for one in sorted(ROOT.glob(pattern))):
        text, name = path.read_text(), path.relative_to(ROOT).as_posix()
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
            lines = (re.sub(r"\s+#\s.*$", "", line).strip() for line in block.splitlines())
            yield from ((line, name) for line in lines if re.search(r"\bspinney( |$)", line)
                        and "ssh" not in line)  # fmt: skip
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        for line in re.findall(r"`(spinney(?:[ \n][^`]*)?)`", prose):
            yield " ".join(line.split()), name


@pytest.mark.short
def test_every_documented_command_line_is_tried_and_no_other() -> None:
    named = dict(documented())
    assert named.keys() - WAYS.keys() == set(), "new in a page: say here how it is tried"
    assert WAYS.keys() - named.keys() == set(), "in no page any more"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A Spinney, and a person who stands in a repository. They have git and no agent."""
    program = Program(tmp_path_factory.mktemp("documented"))
    programs = program.place / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "git")
    program.made_repository("elsewhere/alpha")
    with program.serving("--demo"):
        program.environ["PATH"] = str(programs)
        yield program


@pytest.mark.parametrize("line", [line for line, way in WAYS.items() if way.read_only])
def test_what_is_not_run_here_is_a_command_line_at_least(line: str) -> None:
    words = shlex.split(WAYS[line].instead or line)[1:]
    assert not words or read_command_line(words).command


@pytest.mark.parametrize("line", [line for line, way in WAYS.items() if not way.read_only])
def test_a_documented_command_line_does_what_its_page_says(served: Program, line: str) -> None:
    way = WAYS[line]
    words = shlex.split((way.instead or line).format(place=served.place))[1:]
    if words[0] == "events":
        follow(served, words)
        return
    ran = subprocess.run(
        [*served.command, *words], cwd=served.cwd / "alpha", env=served.environ,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (ran.returncode, way.prints in ran.stdout) == (way.code, True), ran.stderr


def follow(served: Program, words: list[str]) -> None:
    """One that goes on until it is ended prints what happens."""
    with served.started(*words) as following:
        for size in range(12, 72):
            served.call("update_preferences", f'changes={{"ui_font_size": {size % 12 + 12}}}')
            if line := next_line(following, 0.5):
                assert line.startswith("{") and '"seq":' in line
                return
    raise AssertionError(f"nothing came in {PATIENCE} s")


def test_the_models_toml_of_the_page_is_one_that_is_read_without_a_problem(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "agents.md").read_text()
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    text = next(block for block in blocks if "[backend_a]" in block)
    path = tmp_path / "models.toml"
    path.write_text(text)
    catalog, problems = load_overrides(path)
    assert problems == []
    for backend, models in tomllib.loads(text).items():
        assert models.keys() <= {model.name for model in catalog.backend(backend).models}  # type: ignore[union-attr]
