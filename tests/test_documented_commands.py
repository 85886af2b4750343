"""Every command line in the README and in the pages of `docs/` works.

`CASES` says how each is tested; a command line that is missing there, or that no page contains any
more, fails. One server is shared by all tests.
"""

import re
import shlex
import shutil
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
class Case:
    """How a documented command line is tested."""

    instead: str = ""
    """The command line that is run, if that of the page has placeholders."""
    code: int = 0
    prints: str = ""
    """Text that the output contains."""
    parse_only: str = ""
    """Why it is only parsed here, and which tests run it."""


TERMINAL = "it opens a terminal; tests/test_outliving.py and tests/terminal do that"
SERVES = "it serves until it is ended; this module's server and tests/test_command_line.py do that"

SERVICE = "it changes the user's services; tests/test_service_command.py does that"
VERBS = "it starts an agent; tests/test_verbs.py does that"

CASES = {
    "spinney": Case(parse_only=TERMINAL),
    "spinney demo": Case(parse_only=TERMINAL),
    "spinney --plain": Case(parse_only=TERMINAL),
    "spinney attach": Case(parse_only=TERMINAL),
    "spinney attach URL": Case("spinney attach http://127.0.0.1:1", parse_only=TERMINAL),
    "spinney attach http://devbox:3456": Case(parse_only=TERMINAL),
    "spinney serve": Case(parse_only=SERVES),
    "spinney serve --demo": Case(parse_only=SERVES),
    "spinney serve --wait": Case(parse_only="tests/test_service_command.py does that"),
    "spinney serve --json": Case(parse_only=SERVES),
    "spinney doctor --repair": Case(parse_only="other tests damage what it repairs"),
    "spinney doctor --restore": Case(parse_only="other tests damage what it restores"),
    "spinney export FOLDER": Case("spinney export {place}/exported"),
    "spinney recover": Case(prints="There are no recovery points."),
    "spinney recover restore POINT": Case(parse_only="tests/test_recovery_survival.py does that"),
    "spinney recover files POINT": Case(parse_only="tests/test_recovery_survival.py does that"),
    "spinney recover files POINT FILE": Case(
        parse_only="tests/test_recovery_survival.py does that"
    ),
    "spinney land": Case(code=4),
    "spinney land NAME --method squash --yes": Case(
        "spinney land nothing --method squash --yes", code=4
    ),
    "spinney land --train A B C --keep-going --yes": Case(code=4),
    "spinney land --stash": Case(code=4),
    "spinney base main NAME --move": Case("spinney base main nothing --move", code=4),
    "spinney base BRANCH [WORKTREE]": Case("spinney base main nothing", code=4),
    "spinney land --undo": Case(code=4),
    "spinney land --train A B C": Case("spinney land --train A B C --yes", code=4),
    "spinney land --yes": Case(code=4),
    "spinney ls": Case(),
    "spinney new": Case(code=2),
    "spinney new \"Find out why the parser drops the last row\" --wait": Case(parse_only=VERBS),
    "spinney send": Case(code=2),
    "spinney wait": Case(code=4),
    "spinney approve": Case(code=4),
    "spinney approve --yes": Case(code=4),
    "spinney approve parser-rows": Case(code=4),
    "spinney wait parser-rows && spinney diff parser-rows": Case(
        "spinney wait parser-rows", code=4
    ),
    "spinney diff": Case(code=4),
    "spinney diff --stat": Case(code=4),
    "spinney prune": Case(),
    "spinney prune --delete": Case("spinney prune --delete --yes"),
    "spinney undo": Case(code=4),
    "spinney undo SESSION --turn N": Case(
        "spinney undo Talk --turn 2", parse_only="tests/test_undo_command.py does that"
    ),
    "spinney undo --files --yes": Case(code=4),
    "spinney undo --keep FILE": Case(parse_only="tests/test_undo_command.py does that"),
    "spinney undo --redo": Case(parse_only="tests/test_undo_command.py does that"),
    "spinney why FILE:LINE": Case(parse_only="tests/test_why_and_conflicts.py does that"),
    "spinney conflicts": Case(prints="No worktrees are heading for a conflict."),
    "spinney usage": Case(prints="Total"),
    "spinney COMMAND --help": Case("spinney call --help", prints="usage: spinney call"),
    "spinney --help": Case(prints="exit codes:"),
    "spinney --version": Case(prints="spinney "),
    "spinney doctor": Case(code=1, prints="git"),  # 1: the Program of this test has no agent.
    "spinney doctor --json": Case(code=1, prints='"id": "backend_a"'),
    "spinney schema": Case(prints='"format": "path"'),
    'eval "$(spinney completion bash)"': Case("spinney completion bash", prints="complete -o"),
    'eval "$(spinney completion zsh)"': Case("spinney completion zsh", prints="bashcompinit"),
    "spinney completion fish > ~/.config/fish/completions/spinney.fish": Case(
        "spinney completion fish", prints="complete -c spinney"
    ),
    "spinney call": Case(prints="create_worktree"),
    "spinney call NAME": Case("spinney call list_projects", prints="["),
    "spinney call your_command": Case("spinney call list_projects", prints="["),
    "spinney call list_projects": Case(prints="["),
    "spinney call list_agents": Case(prints='"models"'),
    "spinney call list_models backend=backend_b": Case(prints="["),
    "spinney call create_worktree --help": Case(prints="customName"),
    "spinney call add_project path=.": Case(prints='"alpha"'),
    "spinney call regenerate_http_token": Case(prints='"'),
    "spinney call get_raw_log sessionId=ID": Case(code=4),  # There is no such session.
    "spinney call list_notice_channels": Case(prints='"terminal"'),
    "spinney call restart_spinney when=idle": Case(parse_only="tests/test_restart.py does that"),
    "spinney guests": Case(prints="No guest links."),
    "spinney share --role approver --for 8h": Case(code=4),
    "spinney share SESSION --role approver --for 8h --name Ann": Case(code=4),
    "spinney notify": Case(prints="Nothing waits for you."),
    "spinney notify --test": Case(prints="Page: "),
    "spinney notify --test --channel ntfy": Case(code=1),
    "spinney url": Case(prints="http://127.0.0.1:"),
    "spinney qr": Case(code=1),  # No other machine can connect.
    "spinney token rotate": Case(parse_only="other tests would use the old token"),
    "spinney service": Case(parse_only=SERVICE),
    "spinney service install": Case(parse_only=SERVICE),
    "spinney service install --linger": Case(parse_only=SERVICE),
    "spinney service uninstall": Case(parse_only=SERVICE),
    "spinney events": Case(),
    "spinney events --since 4711": Case(),
    "spinney events --session parser-rows --only message-completed,session-waiting": Case(
        parse_only="tests/test_command_line.py does that"
    ),
    "spinney stop": Case(parse_only="it would end this server; tests/test_outliving.py does that"),
}  # fmt: skip


def documented() -> Iterator[tuple[str, str]]:
    """Each documented command line with its page."""
    for path in (page for pattern in PAGES for page in sorted(ROOT.glob(pattern))):
        text, name = path.read_text(), path.relative_to(ROOT).as_posix()
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
            lines = (re.sub(r"\s+#\s.*$", "", line).strip() for line in block.splitlines())
            yield from ((line, name) for line in lines if re.search(r"\bspinney( |$)", line)
                        and "ssh" not in line)  # fmt: skip
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        for line in re.findall(r"`(spinney(?:[ \n][^`]*)?)`", prose):
            yield " ".join(line.split()), name


@pytest.mark.short
def test_the_cases_are_the_documented_command_lines() -> None:
    named = dict(documented())
    assert named.keys() - CASES.keys() == set(), "new in a page: add it to CASES"
    assert CASES.keys() - named.keys() == set(), "in no page any more: remove it from CASES"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A server with git but no agents on its PATH, and a repository."""
    program = Program(tmp_path_factory.mktemp("documented"))
    programs = program.place / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "git")
    program.make_repository("elsewhere/alpha")
    with program.serving("--demo"):
        program.environ["PATH"] = str(programs)
        yield program


@pytest.mark.parametrize("line", [line for line, case in CASES.items() if case.parse_only])
def test_a_command_line_that_is_not_run_here_can_be_parsed(line: str) -> None:
    words = shlex.split(CASES[line].instead or line)[1:]
    assert not words or read_command_line(words).command


@pytest.mark.parametrize("line", [line for line, case in CASES.items() if not case.parse_only])
def test_a_documented_command_line_does_what_its_page_says(served: Program, line: str) -> None:
    case = CASES[line]
    words = shlex.split((case.instead or line).format(place=served.place))[1:]
    if words[0] == "events":
        check_events(served, words)
        return
    ran = served.run(*words, at=served.cwd / "alpha")
    assert (ran.returncode, case.prints in ran.stdout) == (case.code, True), ran.stderr


def check_events(served: Program, words: list[str]) -> None:
    """Check that a command that runs until it is ended prints events."""
    with served.start(*words) as following:
        for size in range(12, 72):
            served.call("update_preferences", f'changes={{"ui_font_size": {size % 12 + 12}}}')
            if line := next_line(following, 0.5):
                assert line.startswith("{") and '"seq":' in line
                return
    raise AssertionError(f"no event in {PATIENCE} s")


def test_the_documented_models_toml_is_read_without_a_problem(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "agents.md").read_text()
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    text = next(block for block in blocks if "[backend_a]" in block)
    path = tmp_path / "models.toml"
    path.write_text(text)
    catalog, problems = load_overrides(path)
    assert problems == []
    for backend, models in tomllib.loads(text).items():
        assert models.keys() <= {model.name for model in catalog.backend(backend).models}  # type: ignore[union-attr]
