"""A change selects the longer tests that it can reach, no others, and all if that is not known."""

from itertools import chain

import pytest

from tests.program import ROOT
from tests.selection import PRODUCT, is_of_whole_program, read_imports, room_of, select


def select_files(*paths: str) -> frozenset[str]:
    files = select(paths, read_imports(ROOT)).files
    assert files is not None
    return files


def is_in(place: str, files: frozenset[str]) -> bool:
    return any(file.startswith(place) for file in files)


@pytest.mark.parametrize(
    ("path", "reached", "others"),
    [
        (
            "model/landing/trains.py",
            "model/landing contract/test_landing.py page/test_landing.py tui/landing"
            " server/lite/test_landing.py live/every_backend/test_landing.py test_landing_survival",
            "tui/diff tui/tree themes live/test_claude live/opencode page/test_composer.py"
            " model/secrets model/richtext model/turns test_packaging.py terminal",
        ),
        (
            "model/git/status.py",
            "model/git model/landing model/worktrees model/turns",
            "tui/tree themes live/test_claude page/test_composer.py model/usage terminal",
        ),
        (
            "model/backends/claude/session.py",
            "model/backends live/every_backend/test_turns.py live/test_claude_live.py",
            "tui/diff page/test_home.py themes terminal model/secrets model/git contract",
        ),
        (
            "model/preferences/schema.py",
            "model/preferences contract/test_preferences.py tui/screens server",
            "themes/test_contrast terminal page/test_home.py",
        ),
        (
            "tui/diff/view.py",
            "tui/diff tui/landing tui/shell/test_closing.py model/git/test_git_diff.py",
            "model/landing contract server live terminal tui/draw themes tui/tree",
        ),
        (
            "tui/composer/text_area.py",
            "tui/composer tui/shell terminal journeys",
            "model contract server page/test_home.py live themes tui/tree",
        ),
        (
            "server/websocket.py",
            "server contract page",
            "model/git tui/diff live/test_claude terminal",
        ),
        ("server/web/js/main.js", "server page", "model tui live terminal"),
        ("server/lite/landing.py", "server/lite page", "model/git tui live"),
        ("themes/loader.py", "themes tui/screens server page", "model/git live"),
        ("spinney.py", "page terminal live test_outliving.py", "model/git tui/diff"),
        ("tests/live/isolation.py", "live/every_backend", "model/git tui page"),
        ("tests/live/test_gh_live.py", "live/test_gh_live.py live/every", "live/test_claude tui"),
        ("tests/tui/diff/test_diff.py", "tui/diff/test_diff.py", "tui/tree model tui/diff/test_c"),
        ("tests/page/conftest.py", "page/test_start.py page/diff", "model/git tui/diff"),
        ("tests/model/hosting/recordings/gh.json", "model/hosting", "tui model/git"),
        ("tests/model/backends/fake_claude.py", "model/backends", "tui model/git page"),
        ("tests/model/git/data.md", "model/git", "tui model/landing page"),
        ("tests/journeys/page_machine.py", "journeys/test_page.py", "tui model/git contract"),
        ("tests/bench/bare_ring.py", "test_bench_runs.py", "tui model page live"),
        ("tests/stress.py", "test_stress.py", "tui model page live"),
        ("model/demo.py", "test_hang_up.py", "tui/diff model/git themes"),
        ("docs/terminal.md", "test_documented_commands.py", "tui/diff model/landing page live"),
        ("Makefile", "test_makefile.py", "tui/diff model/git page live"),
        ("tests/flaky.toml", "test_repeating.py", "tui model page live"),
        ("SECURITY.md", "", "tui/diff model/git live"),
        (".gitignore", "", "tui model page live test_"),
    ],
)
def test_a_change_selects_what_it_reaches_and_nothing_else(
    path: str, reached: str, others: str
) -> None:
    files = select_files(path)
    assert not [place for place in reached.split() if not is_in(f"tests/{place}", files)]
    assert not [place for place in others.split() if is_in(f"tests/{place}", files)]


@pytest.mark.parametrize(
    "path",
    [
        "tests/conftest.py",
        "tests/fakes.py",
        "tests/repeating.py",
        "model/base/text.py",
        "model/store/database.py",
        "constraints.txt",
        ".ci/agents",
        "unknown/file.py",
        "setup.cfg",
    ],
)
def test_what_reaches_everything_or_is_not_known_selects_all(path: str) -> None:
    assert select(["tui/diff/view.py", path], read_imports(ROOT)).files is None


def test_a_file_that_is_gone_reaches_what_its_room_reaches() -> None:
    gone = select_files("tui/diff/gone.py")
    assert gone >= select_files("tui/diff/view.py")
    assert not is_in("tests/model/landing", gone)


@pytest.mark.core
def test_each_room_is_reached_by_tests_below_the_whole_program() -> None:
    rooms: dict[str, str] = {}
    for path in chain(*((ROOT / top).rglob("*.py") for top in PRODUCT)):
        relative = str(path.relative_to(ROOT))
        rooms.setdefault(room_of(relative), relative)
    assert len(rooms) > 50
    for room, path in rooms.items():
        files = select([path], read_imports(ROOT)).files
        assert files is None or not all(map(is_of_whole_program, files)), room


def test_nothing_changed_selects_nothing_but_the_core() -> None:
    selection = select([], read_imports(ROOT))
    assert selection.files == frozenset()
    assert "; 0 of " in selection.reason and selection.reason.endswith("and the core")
