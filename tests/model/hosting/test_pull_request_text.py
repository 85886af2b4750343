"""Title and description of a pull request come from the user, the agent or the commits."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from model.backends import agent_events, base
from model.commands.preferences import update_preferences
from model.commands.pull_requests import open_pull_request
from model.domain.events.program import TaskCompleted
from model.domain.worktrees import Worktree
from model.store.bus import Reader
from model.writing import writer as writing
from tests.fakes import DONE, FakeBackend, silence
from tests.model.git.git_project import GitProject
from tests.model.hosting.conftest import FakeGh

CREATED = "https://github.com/ada/engine/pull/7\n"
FROM_COMMIT = ("Teach the otter to swim", "It was about time.")


@pytest.fixture
def gh(fake_gh: FakeGh) -> FakeGh:
    fake_gh.set_result("pr create", CREATED)
    return fake_gh


@pytest.fixture
async def reader(place: GitProject, worktree: Worktree) -> Reader:
    """A reader of the events from now on."""
    return place.workspace.bus.reader()


def answer_with(answer: str) -> object:
    def script(_: base.Prompt) -> Iterable[agent_events.AgentEvent]:
        yield agent_events.TextDelta("answer", answer)
        yield DONE

    return script


def get_opened(gh: FakeGh) -> tuple[str, str]:
    """Return title and body as passed to `gh`."""
    call = next(call for call in gh.calls if "create" in str(call["args"]))
    assert isinstance(call["args"], list)
    title = next(arg for arg in call["args"] if arg.startswith("--title="))
    return title.removeprefix("--title="), str(call["input"])


def read_notes(place: GitProject, reader: Reader) -> list[TaskCompleted]:
    place.workspace.bus.seal()
    events = [published.event for published in reader.take()[0]]
    return [e for e in events if isinstance(e, TaskCompleted) and e.task == "write_pull_request"]


def get_prompt(backend: FakeBackend) -> str:
    """Return the prompt of the agent."""
    (agent,) = backend.agents.values()
    return str(agent.calls[0][1])


async def test_the_agent_writes_both_when_neither_is_given(
    place: GitProject, worktree: Worktree, gh: FakeGh, backend: FakeBackend, reader: Reader
) -> None:
    backend.script = answer_with("<title>Let otters swim</title><body>They **can**.</body>")
    await open_pull_request(place.workspace, worktree.id)
    assert get_opened(gh) == ("Let otters swim", "They **can**.")
    assert read_notes(place, reader) == []


async def test_the_agent_reads_commits_files_and_differences(
    place: GitProject, worktree: Worktree, gh: FakeGh, backend: FakeBackend
) -> None:
    await open_pull_request(place.workspace, worktree.id)
    prompt = get_prompt(backend)
    assert "<branch>\notter, to be merged into main\n</branch>" in prompt
    assert "<commits>\nTeach the otter to swim\n\nIt was about time.\n</commits>" in prompt
    assert "new.txt | 1 +" in prompt.partition("<files>")[2].partition("</files>")[0]
    assert "\n+one\n" in prompt.partition("<differences>")[2].partition("</differences>")[0]


async def test_a_given_title_and_body_need_no_agent(
    place: GitProject, worktree: Worktree, gh: FakeGh, backend: FakeBackend
) -> None:
    await open_pull_request(place.workspace, worktree.id, title="Mine", body="")
    assert get_opened(gh) == ("Mine", "")
    assert backend.agents == {}


async def test_the_agent_writes_the_body_that_fits_a_given_title(
    place: GitProject, worktree: Worktree, gh: FakeGh, backend: FakeBackend
) -> None:
    backend.script = answer_with("<body>They can.</body>")
    await open_pull_request(place.workspace, worktree.id, title="Mine")
    assert get_opened(gh) == ("Mine", "They can.")
    assert "<given_title>\nMine\n</given_title>" in get_prompt(backend)


async def test_the_agent_writes_the_title_that_fits_a_given_body(
    place: GitProject, worktree: Worktree, gh: FakeGh, backend: FakeBackend
) -> None:
    backend.script = answer_with("<title>Let\n otters swim</title>")
    await open_pull_request(place.workspace, worktree.id, body="Mine")
    assert get_opened(gh) == ("Let otters swim", "Mine")
    assert "<given_description>\nMine\n</given_description>" in get_prompt(backend)


async def test_texts_are_cut_to_the_limits_of_the_hosting_service(
    place: GitProject, worktree: Worktree, gh: FakeGh, backend: FakeBackend
) -> None:
    backend.script = answer_with(f"<title>{'t' * 300}</title><body>{'b' * 70_000}</body>")
    await open_pull_request(place.workspace, worktree.id)
    assert get_opened(gh) == ("t" * 256, "b" * 65_536)


def fail(_: base.Prompt) -> Iterable[agent_events.AgentEvent]:
    yield agent_events.TurnFailed("The provider is overloaded.", "backend_error")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (fail, "The provider is overloaded."),
        (silence, "Claude Code took longer than 0.01 seconds."),
        (
            answer_with("Certainly! Shall I go on?"),
            "The agent did not answer in the requested form",
        ),
    ],
)
async def test_a_failing_agent_causes_a_note_and_the_text_comes_from_the_commits(
    place: GitProject,
    worktree: Worktree,
    gh: FakeGh,
    backend: FakeBackend,
    reader: Reader,
    monkeypatch: pytest.MonkeyPatch,
    script: object,
    reason: str,
) -> None:
    if script is silence:
        monkeypatch.setattr(writing, "TIMEOUT", 0.01)
    backend.script = script  # type: ignore[assignment]
    opened = await open_pull_request(place.workspace, worktree.id)
    assert opened.pr_number == 7
    assert get_opened(gh) == FROM_COMMIT
    (note,) = read_notes(place, reader)
    assert (note.ok, note.worktree_id) == (False, worktree.id)
    assert note.detail.startswith(
        f"The pull request's text comes from the commits, not from the agent: {reason}"
    )


async def test_without_an_agent_the_text_comes_from_the_commits_without_a_note(
    place: GitProject, worktree: Worktree, gh: FakeGh, backend: FakeBackend, reader: Reader
) -> None:
    changes = {"magic_prompt_backends": {"pr_content_backend": "backend_c"}}
    await update_preferences(place.workspace, changes)
    await open_pull_request(place.workspace, worktree.id)
    assert get_opened(gh) == FROM_COMMIT
    assert (backend.agents, read_notes(place, reader)) == ({}, [])


@pytest.mark.parametrize(
    "name",
    [".github/PULL_REQUEST_TEMPLATE.md", "pull_request_template.md", "docs/Pull_Request_Template"],
)
async def test_the_repositorys_template_is_given_to_the_agent(
    place: GitProject, worktree: Worktree, gh: FakeGh, backend: FakeBackend, name: str
) -> None:
    place.in_worktree(worktree).commit(name, "## Why\n\n- [ ] tested\n")
    await open_pull_request(place.workspace, worktree.id)
    assert "<template>\n## Why\n\n- [ ] tested\n</template>" in get_prompt(backend)


async def test_a_template_that_is_a_link_is_not_read(
    place: GitProject, worktree: Worktree, gh: FakeGh, backend: FakeBackend, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a private key")
    folder = Path(worktree.path) / ".github"
    folder.mkdir()
    (folder / "pull_request_template.md").symlink_to(secret)
    tree = place.in_worktree(worktree)
    tree.git("add", "--all")
    tree.git("commit", "--quiet", "-m", "Add a template")
    await open_pull_request(place.workspace, worktree.id)
    assert "<template>" not in get_prompt(backend)
    assert "a private key" not in get_prompt(backend)


async def test_a_large_file_does_not_hide_the_others(
    place: GitProject, worktree: Worktree, gh: FakeGh, backend: FakeBackend
) -> None:
    tree = place.in_worktree(worktree)
    tree.write("a.lock", "locked\n" * 100_000)
    tree.commit("b.py", "print('otter')\n")
    await open_pull_request(place.workspace, worktree.id)
    differences = get_prompt(backend).partition("<differences>")[2].partition("</differences>")[0]
    assert "[cut off]" in differences
    assert "+print('otter')" in differences
    assert len(differences) < 70_000
